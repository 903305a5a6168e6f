"""The plain facts of one node pool: everything inside the cluster is built from these."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NotRequired, TypedDict

from aks_infiniband.facts.catalog import GpuDriver, MachineSize, Mode, NicDriver

RDMA_SHARED_RESOURCE: Final = "rdma/shared_ib"
"""The extended resource of the shared device plugin; rdma is its default prefix."""
SRIOV_RESOURCE: Final = "rdma/ib"
"""The extended resource of the SR-IOV device plugin, one for each HCA."""


class Toleration(TypedDict):
    """A toleration of core/v1. Always keyed: AKS collapses a list in which one toleration has no key."""

    key: str
    operator: Literal["Equal", "Exists"]
    value: NotRequired[str]
    effect: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """One pool of InfiniBand machines."""

    name: str
    """Name of the pool, as in the settings."""
    size: MachineSize
    """The machine size, with its accelerators and HCAs."""
    node_count: int
    """Number of nodes."""
    node_selector: Mapping[str, str]
    """Labels that the pool's nodes, and no others, carry."""
    tolerations: tuple[Toleration, ...]
    """One for each taint of the pool."""
    mode: Mode
    """How pods get InfiniBand."""
    nic_driver: NicDriver
    """Whose mlx5 driver the nodes run."""
    gpu_driver: GpuDriver
    """Who owns the GPUs' driver: none for machines without GPUs, or whose GPUs are nobody's business here."""
    ipoib_networks: tuple[str, ...] = ()
    """Names of the IPoIBNetworks that a pod joins in mode ipoib, one a rail, in the order of net1, net2, …"""
    ipoib_devices: tuple[str, ...] = ()
    """The parent interface of each of these networks."""

    @property
    def rdma_resource(self) -> str | None:
        """The extended resource under which a device plugin offers the HCAs; None in mode driver-only."""
        if self.mode == "driver-only":
            return None
        return SRIOV_RESOURCE if self.mode == "sriov" else RDMA_SHARED_RESOURCE

    @property
    def rdma_quantity(self) -> int:
        """What a pod that takes a whole machine asks of it."""
        return {"sriov": self.size.infiniband.hca_count, "driver-only": 0}.get(self.mode, 1)

    @property
    def gpu_resource(self) -> str | None:
        """The extended resource of the GPUs; None where nobody offers them."""
        if self.size.accelerator is None or self.gpu_driver == "none":
            return None
        return self.size.accelerator.resource_name

    @property
    def promised_resources(self) -> dict[str, int]:
        """The extended resources of a pod that takes a whole machine: the least that every node has to offer.

        All GPUs, and in mode sriov all HCAs. A shared device plugin's number says how many pods may share, not how
        many HCAs there are, so no more than one pod's worth of it can be asked; in mode driver-only nobody offers any.
        """
        gpus = {self.gpu_resource: self.size.accelerator.count} if self.gpu_resource and self.size.accelerator else {}
        return {**gpus, **({self.rdma_resource: self.rdma_quantity} if self.rdma_resource else {})}


def toleration(taint: str) -> Toleration:
    """The toleration of a taint written as Azure writes it, key=value:effect."""
    key_value, _, effect = taint.rpartition(":")
    key, _, value = key_value.partition("=")
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


def tolerations(pools: Iterable[Pool]) -> list[Toleration]:
    """The tolerations of several pools, each once, in the order of the pools."""
    found: list[Toleration] = []
    for pool in pools:
        found.extend(one for one in pool.tolerations if one not in found)
    return found


def node_affinity(pools: Iterable[Pool], *, labels: Mapping[str, str]) -> dict[str, Any]:
    """A nodeAffinity of core/v1: nodes of any of the pools that carry all of these labels too."""

    def expressions(wanted: Mapping[str, str]) -> list[dict[str, Any]]:
        return [{"key": key, "operator": "In", "values": [value]} for key, value in wanted.items()]

    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [*expressions(labels), *expressions(pool.node_selector)]} for pool in pools
            ]
        }
    }
