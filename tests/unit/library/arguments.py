"""Arguments for every public component, as another program might give them."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network
from typing import Any

from aks_infiniband import OrdinaryPool, load
from aks_infiniband.azure.arguments import Cluster
from aks_infiniband.operators import ipoib
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.resources.options import Waits

from tests.some_pools import GB300, HBV4, MI300X, pool
from tests.unit.library.public import named

SECONDS = 600.0


_NETWORK = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/g/providers/Microsoft.Network"
PLACE = {
    "resource_group_name": "g",
    "cluster_name": "c",
    "subnet_id": f"{_NETWORK}/virtualNetworks/v/subnets/nodes",
}


def _stack() -> Any:
    return load(
        {
            "azure-native:location": "southcentralus",
            "aks-infiniband:cluster": {"kubernetesVersion": "1.34"},
            "aks-infiniband:pools": [
                {"name": "nd", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "mode": "sriov"},
                {"name": "hb", "vmSize": "Standard_HB176rs_v4", "count": 2, "mode": "ipoib"},
            ],
            "aks-infiniband:networkOperator": {"valuesFile": None, "nodePreparation": True},
            "aks-infiniband:gpuOperator": {"valuesFile": None},
        }
    )


def _network() -> ipoib.Network:
    (network,) = ipoib.ipoib_networks([pool(mode="ipoib", ipoib_networks=("fabric",))], IPv4Network("192.168.0.0/24"))
    return network


_GIVEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "AksCluster": lambda: {
        "location": "southcentralus",
        "cluster_name": "c",
        "resource_group_name": "g",
        "settings": Cluster(kubernetes_version="1.34"),
    },
    "AmdGpuOperator": lambda: {"pools": [pool(MI300X, "nda")], "timeout_seconds": SECONDS},
    "CertManager": lambda: {"pools": [pool(MI300X, "nda")], "timeout_seconds": SECONDS},
    "DeviceConfig": lambda: {"pool": pool(MI300X, "nda", gpu_driver="image"), "timeout_seconds": SECONDS},
    "DraDriver": lambda: {"pools": [pool(GB300, "gb")], "timeout_seconds": SECONDS},
    "Dranet": lambda: {
        "pools": [pool(mode="dra", nic_driver="inbox")],
        "namespace": "jobs",
        "timeout_seconds": SECONDS,
    },
    "ExistingGpuOperator": lambda: {"pools": [pool()]},
    "ExistingNetworkOperator": lambda: {"policies": nic_policy_specs([pool()])},
    "FeatureAbsence": dict,
    "FeatureRegistration": lambda: {"location": "southcentralus", "waits": Waits(poll_seconds=0.1, timeout_seconds=5)},
    "GpuOperator": lambda: {"pools": [pool()], "timeout_seconds": SECONDS},
    "InfinibandNodePool": lambda: {**PLACE, "pool": pool(HBV4, "hb")},
    "IpoibNetwork": lambda: {"network": _network(), "timeout_seconds": SECONDS, "namespace": "jobs"},
    "LightCheck": lambda: {"pools": [pool()], "schedule": "17 * * * *"},
    "NetworkOperator": lambda: {"pools": [pool()], "timeout_seconds": SECONDS, "registry_credentials": "{}"},
    "NicClusterPolicy": lambda: {"policies": nic_policy_specs([pool()])},
    "NicNodePolicy": lambda: {
        "pool_name": "ndh100",
        "policies": nic_policy_specs([pool(mode="sriov"), pool(name="hb")]),
    },
    "NodePreparation": lambda: {"pools": [pool()], "namespace": "jobs", "timeout_seconds": SECONDS},
    "Observability": lambda: {"pools": [pool()], "prometheus": "kube-prometheus", "timeout_seconds": SECONDS},
    "OrdinaryNodePool": lambda: {
        **PLACE,
        "pool": OrdinaryPool(name="web", vm_size="Standard_D8s_v5", count=2),
    },
    "PeermemLoader": lambda: {"pools": [pool(gpu_driver="aks")], "namespace": "jobs", "timeout_seconds": SECONDS},
    "PoolTopology": lambda: {"pool": pool(), "levels": ("ib/torset",)},
    "RdmaCluster": lambda: {"stack": _stack()},
    "RegistryCredentials": lambda: {"namespace": "jobs", "docker_config": "{}"},
    "ToolkitHardening": lambda: {"pools": [pool(gpu_driver="aks")], "namespace": "jobs", "timeout_seconds": SECONDS},
    "Validation": lambda: {
        "pool": pool(),
        "kubeconfig": "kubeconfig",
    },
    "ValidationAccess": lambda: {"pools": [pool()]},
    "WorkloadGuard": dict,
    "WorkloadSettings": lambda: {"pools": [pool(), pool(name="hb", mode="ipoib")], "namespaces": ("jobs", "tests")},
}


def arguments(component: str) -> Any:
    """The arguments of a component."""
    return named(f"{component}Args")(**_GIVEN[component]())
