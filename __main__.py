"""The Pulumi program: the stack's configuration, one component, its outputs."""

import pulumi
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load, stack_configuration

cluster = RdmaCluster("rdma", args=RdmaClusterArgs(settings=load(stack_configuration())))

pulumi.export("clusterName", cluster.cluster_name)
pulumi.export("kubeconfig", cluster.kubeconfig)
pulumi.export("pools", cluster.pools)
