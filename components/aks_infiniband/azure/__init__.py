"""The Azure half: network, identity, cluster, the InfiniBand feature and the node pools, as components.

Everything here is a resource of Azure. What runs inside the cluster lives in other rooms; no stack file is read here.
"""
