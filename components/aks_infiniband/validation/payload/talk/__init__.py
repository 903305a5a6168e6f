"""The talk of a run's pods with each other and with the API server."""
