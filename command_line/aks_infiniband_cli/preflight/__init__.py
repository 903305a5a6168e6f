"""The command preflight: what Azure would refuse, said before any money is spent.

Needs the extra `aks-infiniband-cli[azure]`. Facts of Azure are read here; the library judges everything that `pulumi
up` judges too.
"""
