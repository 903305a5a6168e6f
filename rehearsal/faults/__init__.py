"""What can be wrong with a simulated machine: one description for those who inject faults and those who read them.

The simulated tools import this room at every start, so it needs nothing but the standard library. What can go wrong
with requests to Azure is not here: that is part of the subscription (`rehearsal.azure`).
"""
