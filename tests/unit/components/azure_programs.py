"""What the tests of the Azure components have in common: type tokens, and components with the arguments they need."""

from typing import Any

from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.node_pool import InfinibandNodePool, InfinibandNodePoolArgs
from aks_infiniband.azure.ordinary_pool import OrdinaryNodePool, OrdinaryNodePoolArgs
from aks_infiniband.facts.catalog import SIZES

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
_PLACE = {"resource_group_name": "group", "cluster_name": "cluster", "subnet_id": "subnet"}


def cluster(name: Any = "rdma", *, opts: Any = None, **more: Any) -> Any:
    given = {
        "location": "southcentralus",
        "kubernetes_version": "1.35",
        "cluster_name": "aks-infiniband-dev",
        "resource_group_name": "aks-infiniband-dev",
    }
    return AksCluster(name, args=AksClusterArgs(**{**given, **more}), opts=opts)


def pool_args(name: Any = "ndh100", size: Any = "Standard_ND96isr_H100_v5", **more: Any) -> Any:
    gpus = SIZES[size].accelerator
    driver = "operator" if gpus is not None and gpus.software == "gpu-operator" else "none"
    given: dict[str, Any] = {**_PLACE, "count": 2, "gpu_driver": driver}
    return InfinibandNodePoolArgs(**{**given, **more}, pool_name=name, size=SIZES[size])


def node_pool(name: Any = "ndh100", size: Any = "Standard_ND96isr_H100_v5", *, opts: Any = None, **more: Any) -> Any:
    return InfinibandNodePool(name, args=pool_args(name, size, **more), opts=opts)


def ordinary_pool(name: Any = "web", *, opts: Any = None, **more: Any) -> Any:
    given: dict[str, Any] = {**_PLACE, "count": 3, "vm_size": "Standard_D8s_v5"}
    return OrdinaryNodePool(name, args=OrdinaryNodePoolArgs(pool_name=name, **{**given, **more}), opts=opts)
