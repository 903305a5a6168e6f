"""The real Pulumi engine: how a rehearsal starts it, and what its event log says.

Nothing here knows Azure, the machines or what the program deploys.
"""
