"""The inputs of several components, twice: as the engine hands them over, and as in Python."""

from typing import Any, Final

from aks_infiniband import DriverUpgrade, Registry, Waits
from aks_infiniband.facts.baselines import GivenThreshold

from tests.some_pools import GB300, H100, HBV4, MI300X, pool

Pair = tuple[Any, Any]

ND: Final[Pair] = (
    {"name": "h100", "vmSize": H100, "count": 2.0, "gpuDriver": "operator", "nodeSelector": {"machines": "h100"}},
    pool(name="h100", node_selector={"machines": "h100"}),
)
SRIOV: Final[Pair] = (
    {"name": "h100", "vmSize": H100, "count": 2.0, "gpuDriver": "operator", "mode": "sriov"},
    pool(name="h100", mode="sriov"),
)
HB: Final[Pair] = (
    {"name": "hb", "vmSize": HBV4, "count": 2.0, "mode": "ipoib", "nicDriver": "doca-ofed", "ipoibDevices": ["ib0"]},
    pool(HBV4, "hb", mode="ipoib", ipoib_devices=("ib0",)),
)
GB: Final[Pair] = (
    {"name": "gb", "vmSize": GB300, "count": 2.0, "gpuDriver": "operator", "nicDriver": "doca-ofed"},
    pool(GB300, "gb", nic_driver="doca-ofed"),
)
AMD: Final[Pair] = (
    {"name": "nda", "vmSize": MI300X, "count": 2.0, "gpuDriver": "operator", "nicDriver": "doca-ofed"},
    pool(MI300X, "nda", gpu_driver="operator"),
)
OF_AKS: Final[Pair] = (
    {"name": "h100", "vmSize": H100, "count": 2.0, "gpuDriver": "aks", "taints": ["a=b:NoSchedule"]},
    pool(name="h100", gpu_driver="aks", taints=("a=b:NoSchedule",)),
)
WAIT: Final[Pair] = ({"kubeconfig": "k", "timeoutSeconds": 600.0}, {"kubeconfig": "k", "timeout_seconds": 600})
WAITS: Final[Pair] = (
    {"pollSeconds": 0.5, "stableSeconds": 20.0, "timeoutSeconds": 600.0},
    Waits(poll_seconds=0.5, stable_seconds=20, timeout_seconds=600),
)
MIRROR: Final[Pair] = (
    {"images": "mirror.example/x", "pullSecret": "pull"},
    Registry(images="mirror.example/x", pull_secret="pull"),
)
UPGRADE: Final[Pair] = (
    {"automatic": False, "drainTimeoutSeconds": 60.0},
    DriverUpgrade(automatic=False, drain_timeout_seconds=60),
)
BOUNDS: Final[Pair] = (
    {"rdma-write-bandwidth": {"warn": 300.0, "fail": 200.5}},
    {"rdma-write-bandwidth": GivenThreshold(warn=300, fail=200.5)},
)
