"""The programs on machines, those that measure and watch them, and the settings of workloads."""

from typing import Any, Final

from aks_infiniband import ValidationOptions

from tests.some_pools import pool
from tests.unit.provider.parity.parts import BOUNDS, HB, MIRROR, ND, OF_AKS, WAIT, WAITS, Pair


def _daemon(pools: Pair, **more: Any) -> Any:
    described, made = pools
    return (
        {"pools": [described], "namespace": "system", "registry": MIRROR[0], **WAIT[0], **more},
        lambda: {"pools": [made], "namespace": "system", "registry": MIRROR[1], **WAIT[1], **more},
    )


_DRA: Final[Pair] = (
    {**ND[0], "mode": "dra", "nicDriver": "inbox", "gpuDirect": "dmabuf"},
    pool(name="h100", mode="dra", nic_driver="inbox", gpu_direct="dmabuf", node_selector={"machines": "h100"}),
)

TWICE: Final[dict[str, Any]] = {
    "NodePreparation": _daemon(ND, memlock=False),
    "Dranet": _daemon(_DRA),
    "PeermemLoader": _daemon(OF_AKS),
    "ToolkitHardening": _daemon(OF_AKS),
    "WorkloadSettings": (
        {"pools": [ND[0], HB[0]], "namespaces": ["jobs", "tests"], "topologies": {"h100": "<system/>"}},
        lambda: {"pools": [ND[1], HB[1]], "namespaces": ("jobs", "tests"), "topologies": {"h100": "<system/>"}},
    ),
    "WorkloadGuard": (
        {"namespaces": ["jobs"], "name": "guard"},
        lambda: {"namespaces": ("jobs",), "name": "guard"},
    ),
    "PoolTopology": (
        {"pool": ND[0], "scheduler": "kueue", "levels": ["ib/torset"]},
        lambda: {"pool": ND[1], "levels": ("ib/torset",)},
    ),
    "RegistryCredentials": (
        {"namespace": "jobs", "dockerConfig": "{}"},
        lambda: {"namespace": "jobs", "docker_config": "{}"},
    ),
    "Validation": (
        {
            "pool": ND[0],
            "kubeconfig": "k",
            "namespace": "system",
            "mode": "warn",
            "image": "registry.example/nccl:1",
            "timeoutSeconds": 3600.0,
            "tries": 2.0,
            "sweep": "full",
            "burnIn": 5.0,
            "errorCounters": "off",
            "thresholds": BOUNDS[0],
            "waits": WAITS[0],
            "registry": MIRROR[0],
            "nodePreparation": True,
            "revalidateWhen": {"driver": "1.2", "nodes": 2.0},
        },
        lambda: {
            "pool": ND[1],
            "kubeconfig": "k",
            "namespace": "system",
            "options": ValidationOptions(
                mode="warn",
                image="registry.example/nccl:1",
                timeout_seconds=3600,
                tries=2,
                sweep="full",
                burn_in=5,
                error_counters="off",
                thresholds=BOUNDS[1],
            ),
            "waits": WAITS[1],
            "registry": MIRROR[1],
            "node_preparation": True,
            "revalidate_when": {"driver": "1.2", "nodes": 2},
        },
    ),
    "LightCheck": (
        {
            "pools": [ND[0]],
            "schedule": "17 * * * *",
            "thresholds": BOUNDS[0],
            "errorCounters": "enforce",
            "namespace": "system",
            "registry": MIRROR[0],
        },
        lambda: {
            "pools": [ND[1]],
            "schedule": "17 * * * *",
            "thresholds": BOUNDS[1],
            "error_counters": "enforce",
            "namespace": "system",
            "registry": MIRROR[1],
        },
    ),
    "Observability": (
        {
            "pools": [ND[0]],
            "prometheus": "azure",
            "labels": {"team": "a"},
            "gpus": True,
            "registry": MIRROR[0],
            **WAIT[0],
        },
        lambda: {
            "pools": [ND[1]],
            "prometheus": "azure",
            "labels": {"team": "a"},
            "gpus": True,
            "registry": MIRROR[1],
            **WAIT[1],
        },
    ),
}
