"""The common parts of the Azure components' tests: type tokens, and components with the arguments they need."""

from typing import Any

from aks_infiniband.azure.arguments import Cluster
from aks_infiniband.azure.cluster import AksCluster, AksClusterArgs
from aks_infiniband.azure.feature import FeatureRegistration, FeatureRegistrationArgs
from aks_infiniband.azure.machines import Machines, OrdinaryPool
from aks_infiniband.azure.node_pool import (
    InfinibandNodePool,
    InfinibandNodePoolArgs,
    OrdinaryNodePool,
    OrdinaryNodePoolArgs,
)
from aks_infiniband.resources.options import Waits

from tests.some_pools import pool

CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
_NETWORK = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.Network"
NODES_SUBNET = f"{_NETWORK}/virtualNetworks/v/subnets/nodes"
PODS_SUBNET = f"{_NETWORK}/virtualNetworks/v/subnets/pods"
_PLACE: Any = {"resource_group_name": "group", "cluster_name": "cluster", "subnet_id": NODES_SUBNET}


def cluster(name: Any = "rdma", *, opts: Any = None, **more: Any) -> Any:
    """more: the cluster's settings, and its name in Azure."""
    called = more.pop("cluster_name", "aks-infiniband-dev")
    settings = Cluster(**{"kubernetes_version": "1.35", **more})
    args = AksClusterArgs(location="southcentralus", cluster_name=called, resource_group_name=called, settings=settings)
    return AksCluster(name, args=args, opts=opts)


def pool_args(name: Any = "ndh100", size: Any = "Standard_ND96isr_H100_v5", **more: Any) -> Any:
    machines, given = _machines(more)
    described = {key: given.pop(key) for key in ("node_count", "gpu_driver", "taints") if key in given}
    return InfinibandNodePoolArgs(pool=pool(size, name, **described), machines=machines, **{**_PLACE, **given})


def node_pool(name: Any = "ndh100", size: Any = "Standard_ND96isr_H100_v5", *, opts: Any = None, **more: Any) -> Any:
    return InfinibandNodePool(name, args=pool_args(name, size, **more), opts=opts)


def feature_registration(poll: Any = 0.001, timeout: Any = 5.0) -> Any:
    # Sooner than a user may choose: no Azure is called here.
    waits = Waits.model_construct(poll_seconds=poll, timeout_seconds=timeout)
    args = FeatureRegistrationArgs(location="southcentralus", waits=waits)
    return FeatureRegistration("rdma", args=args)


def ordinary_pool(name: Any = "web", *, opts: Any = None, **more: Any) -> Any:
    described = OrdinaryPool(name=name, **{"count": 3, "vm_size": "Standard_D8s_v5", **more})
    return OrdinaryNodePool(name, args=OrdinaryNodePoolArgs(pool=described, **_PLACE), opts=opts)


def _machines(given: dict[str, Any]) -> tuple[Machines, dict[str, Any]]:
    """The arguments on the machines, and the rest."""
    names = Machines.model_fields.keys() & given.keys()
    return Machines(**{name: given[name] for name in names}), {key: given[key] for key in given.keys() - names}
