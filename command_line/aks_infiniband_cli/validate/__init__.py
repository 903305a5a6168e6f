"""`aks-infiniband validate`: has the cluster's own validation measure again, on nodes that are idle.

The library has the measurement, its judgement and its rendering; here are the choice of nodes, the objects of a run in
the cluster and their removal, the comparison, and the cordon.
"""
