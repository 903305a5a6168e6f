"""Words that the catalogue was not written by, with their score."""
