"""`aks-infiniband upgrade`: another Kubernetes or node image, machine by machine and measured. What measures a node is
in `validate`, what asks Azure for anything else in `preflight`.
"""
