"""How a run's pods talk with each other and with the API server."""
