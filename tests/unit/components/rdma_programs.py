"""Programs with one RdmaCluster, and the type tokens of what they register."""

from typing import Any

from aks_infiniband import RdmaCluster, RdmaClusterArgs, Stack, load

POOL = "azure-native:containerservice:AgentPool"
CLUSTER = "azure-native:containerservice:ManagedCluster"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
RELEASE = "kubernetes:helm.sh/v3:Release"
PROVIDER = "pulumi:providers:kubernetes"
POLICY = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
RULE = "kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule"
JOB = "kubernetes:batch/v1:Job"
FEATURE = "azure-native:resources:DeploymentAtSubscriptionScope"
IN_AZURE = ("azure-native:location", "aks-infiniband:cluster")


def configuration(pools: Any = (("ndh100", "Standard_ND96isr_H100_v5"),), **more: Any) -> dict[str, Any]:
    """A stack's configuration. pools: each as in a stack file, or a name and a size."""
    return {
        "azure-native:location": "southcentralus",
        "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
        "aks-infiniband:pools": [
            pool if isinstance(pool, dict) else {"name": pool[0], "vmSize": pool[1], "count": 2} for pool in pools
        ],
        "aks-infiniband:networkOperator": {"valuesFile": None},
        "aks-infiniband:gpuOperator": {"valuesFile": None},
        **{f"aks-infiniband:{key}": value for key, value in more.items()},
    }


def stack_of(pools: Any = (("ndh100", "Standard_ND96isr_H100_v5"),), **more: Any) -> Stack:
    return load(configuration(pools, **more))


def program(**more: Any) -> Any:
    given = stack_of(**more)
    return lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=given)).cluster_name
