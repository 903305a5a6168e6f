"""The chart of the checks, by real Helm."""
