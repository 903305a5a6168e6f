"""Arguments for every public component, as somebody else's program might give them."""

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network
from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.operators import ipoib
from aks_infiniband.stack.settings import Readiness, load

from tests.some_pools import pool
from tests.unit.library.public import named

SECONDS = 600.0


READINESS = Readiness(poll_seconds=0.01, stable_seconds=0, timeout_seconds=5)
NODE_POOL = {"pool_name": "hb", "resource_group_name": "g", "cluster_name": "c", "count": 2, "subnet_id": "s"}


def _settings() -> Any:
    return load(
        {
            "azure-native:location": "southcentralus",
            "aks-infiniband:cluster": {"kubernetesVersion": "1.35"},
            "aks-infiniband:pools": [
                {"name": "nd", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "mode": "sriov"},
                {"name": "hb", "vmSize": "Standard_HB176rs_v4", "count": 2, "mode": "ipoib"},
            ],
            "aks-infiniband:networkOperator": {"valuesFile": None, "nodePreparation": True},
            "aks-infiniband:gpuOperator": {"valuesFile": None},
        }
    )


def _network() -> ipoib.Network:
    addresses = ipoib.Addresses(subnet=IPv4Network("192.168.0.0/24"), per_node=8)
    return ipoib.Network(name="fabric", device="ibP257p0s0", addresses=addresses, pools=(pool(mode="ipoib"),))


_GIVEN: Mapping[str, Callable[[], dict[str, Any]]] = {
    "AksCluster": lambda: {
        "location": "southcentralus",
        "kubernetes_version": "1.35",
        "cluster_name": "c",
        "resource_group_name": "g",
    },
    "FeatureAbsence": dict,
    "FeatureRegistration": lambda: {"location": "southcentralus", "readiness": READINESS},
    "GpuOperator": lambda: {"pools": [pool()], "timeout_seconds": SECONDS},
    "InfinibandNodePool": lambda: {**NODE_POOL, "size": SIZES["Standard_HB176rs_v4"], "gpu_driver": "none"},
    "IpoibNetwork": lambda: {"network": _network(), "timeout_seconds": SECONDS, "namespace": "jobs"},
    "NetworkOperator": lambda: {"pools": [pool()], "timeout_seconds": SECONDS, "registry_credentials": "{}"},
    "NicClusterPolicy": lambda: {"pools": [pool()], "timeout_seconds": SECONDS},
    "NicNodePolicy": lambda: {
        "pool": pool(mode="sriov"),
        "pools": [pool(mode="sriov"), pool(name="hb")],
        "timeout_seconds": SECONDS,
    },
    "NodePreparation": lambda: {"pools": [pool()], "namespace": "jobs", "timeout_seconds": SECONDS},
    "OrdinaryNodePool": lambda: {**NODE_POOL, "vm_size": "Standard_D8s_v5"},
    "PeermemLoader": lambda: {"pools": [pool(gpu_driver="aks")], "namespace": "jobs", "timeout_seconds": SECONDS},
    "RdmaCluster": lambda: {"settings": _settings()},
    "RegistryCredentials": lambda: {"namespace": "jobs", "docker_config": "{}"},
    "Validation": lambda: {
        "pool": pool(),
        "kubeconfig": "kubeconfig",
    },
    "WorkloadSettings": lambda: {"pools": [pool(), pool(name="hb", mode="ipoib")], "namespaces": ("jobs", "tests")},
}


def arguments(component: str) -> Any:
    """The arguments of a component."""
    return named(f"{component}Args")(**_GIVEN[component]())
