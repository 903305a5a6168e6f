"""The faults of simulated machines: one description, for the code that injects them and the code that reads them.

The simulated tools import this room at every start, so it needs only the standard library. Faults of requests to Azure
are not here: they are part of the subscription (`rehearsal.azure`).
"""
