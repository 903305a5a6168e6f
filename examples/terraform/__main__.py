"""RDMA for a cluster that Terraform keeps: hand_over.py makes the stack file of Terraform's outputs."""

import pulumi
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load

cluster = RdmaCluster("rdma", args=RdmaClusterArgs(stack=load()))
pulumi.export("pools", cluster.pools)
