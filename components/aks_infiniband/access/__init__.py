"""How the program reaches a cluster: kubeconfigs of clusters that are there already, and of those that Azure hands out.

Nothing here makes a resource or asks a cluster anything.
"""
