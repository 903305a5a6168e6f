"""What a pod needs to talk RDMA over a pool's InfiniBand: environment, and the common part of its pod template.

Sources: NCCL's own documentation ("Environment Variables"), the AKS InfiniBand guide (Azure/aks-rdma-infiniband)
and what its users report.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import pulumi
import pulumi_kubernetes as k8s

from aks_infiniband._options import child_options
from aks_infiniband.metadata import labels
from aks_infiniband.pool import Pool

NAMESPACE: Final = "aks-infiniband"
"""Namespace of the workload ConfigMaps and of the validation."""

SHM_SIZE: Final = "64Gi"
"""Limit of the memory-backed /dev/shm: the AKS guide's. Only what is used counts, against the pod's memory."""

_NCCL_INFINIBAND: Final[Mapping[str, str]] = {
    # InfiniBand, never quietly something else (AKS guide, tests/scenarios/k8s/values.yaml).
    "NCCL_IB_DISABLE": "0",
    # A virtual machine hides the PCI tree, so every GPU looks far from every HCA (AKS guide; NVIDIA/nccl issue 513).
    "NCCL_NET_GDR_LEVEL": "SYS",
    # Without it PCI writes of GPU and HCA wait for one another (AKS guide, pull request 36).
    "NCCL_IB_PCI_RELAXED_ORDERING": "1",
    # Every device but the Ethernet one of accelerated networking. HPC images call the devices mlx5_ib0.. and mlx5_an0
    # (their udev rules), AKS nodes may call them mlx5_0.. (AKS guide, expected-output.md), where the device plugin's
    # link type keeps the Ethernet one out of the pod: the usual filter mlx5_ib would find no device there, and NCCL
    # would quietly use sockets.
    "NCCL_IB_HCA": "^mlx5_an",
    # Rendezvous over the pod network; without it NCCL may choose an IPoIB interface (NCCL, NCCL_SOCKET_IFNAME).
    "NCCL_SOCKET_IFNAME": "eth0",
}


def config_map_name(pool_name: str) -> str:
    """Name of the ConfigMap that holds a pool's workload environment."""
    return f"workload-{pool_name}"


def nccl_environment() -> dict[str, str]:
    """NCCL's and RCCL's environment for RDMA over InfiniBand; each value's reason stands beside it in the source."""
    return dict(_NCCL_INFINIBAND)


def accelerator_resources(pool: Pool) -> dict[str, str]:
    """All accelerators of one machine of the pool, as extended resources; empty for a size without."""
    accelerator = pool.size.accelerator
    return {} if accelerator is None else {accelerator.resource_name: str(accelerator.count)}


def pod_resources(pool: Pool) -> dict[str, str]:
    """The extended resources of a pod that takes a whole machine of the pool: its accelerators and its RDMA devices."""
    return {**accelerator_resources(pool), pool.rdma_resource: str(pool.rdma_quantity)}


def pod_template_fragment(pool: Pool, *, config_map: str, container: str = "main") -> dict[str, Any]:
    """The part of a PodTemplateSpec that every workload on the pool has in common: merge it into your own.

    config_map: the ConfigMap with the pool's environment; the pod has to be in its namespace.
    container: name of the container that gets resources, capability, environment and shared memory.
    """
    resources = pod_resources(pool)
    return {
        "spec": {
            "nodeSelector": dict(pool.node_selector),
            "tolerations": [dict(toleration) for toleration in pool.tolerations],
            "containers": [
                {
                    "name": container,
                    "envFrom": [{"configMapRef": {"name": config_map}}],
                    "resources": {"requests": resources, "limits": dict(resources)},
                    # Registering memory with an HCA locks it, beyond what containerd's limit allows.
                    "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
                    "volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}],  # noqa: S108 a mount path
                }
            ],
            "volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": SHM_SIZE}}],
        }
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkloadSettingsArgs:
    """Arguments of WorkloadSettings."""

    pools: Sequence[Pool]
    namespace: str = NAMESPACE
    """Namespace of the ConfigMaps; it has to exist. Workloads that use them run in it."""


class WorkloadSettings(pulumi.ComponentResource):
    """One ConfigMap per pool with the environment of RDMA workloads, for `envFrom`."""

    config_maps: Mapping[str, pulumi.Output[str]]
    """Name of each pool's ConfigMap, known once it exists."""

    def __init__(self, name: str, *, args: WorkloadSettingsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Create the ConfigMaps of all pools.

        name: name of the component.
        args: its arguments.
        opts: resource options; provider, depends_on and deleted_with reach the ConfigMaps.
        """
        super().__init__("aks-infiniband:index:WorkloadSettings", name, None, opts)
        self.config_maps = {
            pool.name: k8s.core.v1.ConfigMap(
                f"{name}-{pool.name}",
                metadata={
                    "name": config_map_name(pool.name),
                    "namespace": args.namespace,
                    "labels": labels("workload-settings", "workload"),
                },
                data=nccl_environment(),
                opts=child_options(self, opts),
            ).metadata.name
            for pool in args.pools
        }
        self.register_outputs({"configMaps": self.config_maps})
