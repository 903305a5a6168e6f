"""The command teardown: what of a destroyed stack is left, in Azure or in a cluster that somebody else owns.

It only reads. Needs the extra `aks-infiniband-cli[azure]`.
"""
