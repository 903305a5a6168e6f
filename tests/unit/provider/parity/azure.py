"""The components that Azure makes."""

from typing import Any, Final

from aks_infiniband.azure.arguments import Cluster
from aks_infiniband.azure.machines import Machines, OrdinaryPool

from tests.unit.provider.parity.parts import ND, WAITS, Pair

_NETWORK = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.Network"
_NODES = f"{_NETWORK}/virtualNetworks/v/subnets/nodes"
_PODS = f"{_NETWORK}/virtualNetworks/v/subnets/pods"

_PLACE: Final[Pair] = (
    {
        "resourceGroupName": "g",
        "clusterName": "c",
        "subnetId": _NODES,
        "podSubnetId": _PODS,
        "kubernetesVersion": "1.35",
    },
    {
        "resource_group_name": "g",
        "cluster_name": "c",
        "subnet_id": _NODES,
        "pod_subnet_id": _PODS,
        "kubernetes_version": "1.35",
    },
)
_MACHINES: Final = {
    "autoscale": {"minCount": 1.0, "maxCount": 4.0},
    "labels": {"team": "a"},
    "kubernetesVersion": "1.34",
    "maxPods": 110.0,
    "osSku": "AzureLinux",
    "osDiskSizeGb": 256.0,
    "osDiskType": "Ephemeral",
    "nodeImageSnapshotId": (
        "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers/"
        "Microsoft.ContainerService/snapshots/s"
    ),
    "zones": ["1"],
}
_ORDINARY: Final = {
    **_MACHINES,
    "name": "web",
    "vmSize": "Standard_D8s_v5",
    "count": 3.0,
    "taints": ["a=b:NoSchedule"],
    "priority": "Spot",
    "capacityReservationGroupId": (
        "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers/"
        "Microsoft.Compute/capacityReservationGroups/c"
    ),
}


def _whole(given: Any) -> Any:
    """As a stack file has it: the engine hands numbers over as floats."""
    if isinstance(given, dict):
        return {key: _whole(value) for key, value in given.items()}
    return int(given) if isinstance(given, float) else given


_SYSTEM: Final = {"vmSize": "Standard_D16s_v5", "count": 3, "zones": ["1", "2"]}
_CLUSTER: Final = {
    "kubernetesVersion": "1.35",
    "supportPlan": "AKSLongTermSupport",
    "nodeResourceGroup": "nodes",
    "identityId": (
        "/subscriptions/00000000-0000-0000-0000-0000000000aa/resourceGroups/g/providers/"
        "Microsoft.ManagedIdentity/userAssignedIdentities/i"
    ),
    "systemPool": _SYSTEM,
    "network": {
        "addressSpace": "10.0.0.0/12",
        "subnet": "10.1.0.0/16",
        "podCidr": "10.244.0.0/15",
        "serviceCidr": "10.64.0.0/16",
    },
    "apiServer": {"private": False, "authorizedIpRanges": ["20.0.0.0/24"]},
    "access": {"localAccounts": True, "login": "msi"},
    "tags": {"team": "a"},
}

TWICE: Final[dict[str, Any]] = {
    "AksCluster": (
        {
            "location": "southcentralus",
            "clusterName": "c",
            "resourceGroupName": "g",
            "settings": _CLUSTER | {"systemPool": {**_SYSTEM, "count": 3.0}},
        },
        lambda: {
            "location": "southcentralus",
            "cluster_name": "c",
            "resource_group_name": "g",
            "settings": Cluster.model_validate(_CLUSTER),
        },
    ),
    "FeatureRegistration": (
        {"location": "southcentralus", "waits": WAITS[0], "tags": {"team": "a"}},
        lambda: {"location": "southcentralus", "waits": WAITS[1], "tags": {"team": "a"}},
    ),
    "FeatureAbsence": ({}, dict),
    "InfinibandNodePool": (
        {
            **_PLACE[0],
            "machines": _MACHINES,
            "begin": 3.0,
            "tags": {"team": "a"},
            "pool": ND[0],
            "placementGroupLimit": 200.0,
        },
        lambda: {
            **_PLACE[1],
            "machines": Machines.model_validate(_whole(_MACHINES)),
            "begin": 3,
            "tags": {"team": "a"},
            "pool": ND[1],
            "placement_group_limit": 200,
        },
    ),
    "OrdinaryNodePool": (
        {**_PLACE[0], "tags": {"team": "a"}, "pool": _ORDINARY},
        lambda: {
            **_PLACE[1],
            "tags": {"team": "a"},
            "pool": OrdinaryPool.model_validate(_whole(_ORDINARY)),
        },
    ),
}
