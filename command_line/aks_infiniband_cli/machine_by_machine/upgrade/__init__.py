"""`aks-infiniband upgrade`: another Kubernetes or node image, machine by machine and measured. The measurement of a
node is in `validate`, all other reads from Azure in `preflight`.
"""
