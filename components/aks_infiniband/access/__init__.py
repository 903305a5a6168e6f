"""The program's access to a cluster: kubeconfigs of clusters that are there already, and of those that Azure hands out;
clients, and the limit of a look at a cluster.

Nothing here makes a resource, or knows the requests to a cluster.
"""
