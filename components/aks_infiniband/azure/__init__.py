"""The Azure half: network, identity, cluster, the InfiniBand feature and the node pools, as components.

Everything here is a resource of Azure. Software inside the cluster belongs to other rooms; no stack file is read here.
"""
