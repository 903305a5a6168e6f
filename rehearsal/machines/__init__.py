"""The simulated machines: the hardware of each node, and what pods do to it.

The pods may come from any operator, chart or person. Azure, which makes the nodes, is not here (`rehearsal.azure`).
"""
