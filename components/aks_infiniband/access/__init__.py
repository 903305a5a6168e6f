"""How the program reaches a cluster: kubeconfigs of clusters that are there already, and of those that Azure hands out;
clients, and how long a look at a cluster may take.

Nothing here makes a resource, or knows what a cluster is asked for.
"""
