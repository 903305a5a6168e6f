"""The faults of simulated machines: one description, for the code that injects them and the code that reads them.

The simulated tools import this room at every start, so it needs nothing but the standard library. What can go wrong
with requests to Azure is not here: that is part of the subscription (`rehearsal.azure`).
"""
