"""The command teardown: the parts of a destroyed stack that are left, in Azure or in a cluster that others own.

The command only reads. Needs the extra `aks-infiniband-cli[azure]`.
"""
