"""`aks-infiniband validate`: has the cluster's own validation measure again, on nodes that are idle.

What is measured, how it is judged and how it is shown is the library's; here are which nodes, what a run needs in the
cluster and that it goes again, what is compared, and the cordon.
"""
