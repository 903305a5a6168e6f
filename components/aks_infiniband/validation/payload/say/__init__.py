"""The words of a validation: what is expected, and a check of it."""
