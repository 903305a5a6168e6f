"""`aks-infiniband replace`: a bad machine is taken out, repaired or given up, and measured before one is admitted.

The facts on a machine that is replaced stand in the cluster (`history`), so the command may be killed at any step. The
next step is one pure function (`decision`); the part that carries it out does not know the order.
"""
