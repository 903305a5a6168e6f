"""The report of a validation."""
