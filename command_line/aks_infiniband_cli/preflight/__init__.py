"""The command preflight: what Azure would refuse, said before any money is spent.

Needs the extra `aks-infiniband-cli[azure]`. What is asked of Azure is read here; what `pulumi up` judges too is judged
by the library.
"""
