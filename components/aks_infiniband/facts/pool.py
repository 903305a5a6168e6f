"""The plain facts of one node pool: its machines, and everything on them, are built from these."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

from aks_infiniband.facts.bounds import Nodes, keep_rules
from aks_infiniband.facts.catalog.machine import (
    GpuDevicePlugin,
    GpuDirect,
    GpuDriver,
    MachineSize,
    Mode,
    NicDriver,
    by_dma_buf,
)
from aks_infiniband.facts.modes import ACCESS, Access
from aks_infiniband.facts.rules import interface_name, label_key, label_value, namespace, pool_name, taint

MOST_POOLS: Final = 100
"""Pools that AKS takes in one cluster (Azure, "Quotas, virtual machine size restrictions, and region availability")."""
MOST_NODES_OF_ALL: Final = 5000
"""Nodes of one cluster: Kubernetes' own limit ("Considerations for large clusters"), and that of AKS's tiers Standard
and Premium (MicrosoftDocs/azure-aks-docs fb060ab of 2026-08-21, free-standard-pricing-tiers.md)."""
PLACEMENT_GROUP_LIMIT: Final = 100
"""Machines that one placement group, and so one InfiniBand fabric, takes unless a support request raised it
(MicrosoftDocs/azure-compute-docs, setup-infiniband.md, read 2026-11-23)."""
LARGEST_PLACEMENT_GROUP: Final = 300
"""The most to which it is raised (the same, overviews of HBv3, HBv4 and HX; a pool of 140 ND H200 machines on AKS:
edwardsp/azcluster 29c1960, 2026-06-22)."""
NOT_RESERVED: Final = re.compile(r"Standard_(ND|HB|HC|HX)")
"""Sizes for which Azure has no capacity reservations; nor has it any for scale sets of one placement group
(MicrosoftDocs/azure-compute-docs, capacity-reservation-overview.md, 2026-02-17). HX follows from the second alone."""
NETWORK: Final = "aks-infiniband"
"""Name of the IPoIB network on the first rail of most sizes, the one of the AKS InfiniBand guide."""
_FIRST_RAIL: Final = "ibP257p0s0"
"""The guide's parent device (Azure/aks-rdma-infiniband, configs/nicclusterpolicy/ipoib)."""


class Toleration(TypedDict):
    """A toleration of core/v1. Every toleration has a key: AKS rewrites a list in which one has none."""

    key: str
    operator: Literal["Equal", "Exists"]
    value: NotRequired[str]
    effect: str


def agent_pool_label(pool_name: str) -> dict[str, str]:
    """The label that AKS puts on the nodes of a pool."""
    return {"kubernetes.azure.com/agentpool": pool_name}


def network_name(device: str) -> str:
    """Name of the IPoIB network on a parent device. It depends on the device alone, whatever other pools there are."""
    return NETWORK if device == _FIRST_RAIL else f"{NETWORK}-{device.lower()}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pool:
    """One pool of InfiniBand machines.

    Raises ValueError for mode ipoib without a device.
    """

    name: Annotated[str, pool_name]
    """Name of the pool, as in the settings: 1 to 12 lower-case letters and digits, a letter first."""
    size: MachineSize
    """The machine size, with its accelerators and HCAs."""
    node_count: Nodes
    """Number of nodes; of an autoscaled pool the smallest number."""
    gpu_driver: GpuDriver
    """Who owns the GPUs' driver: none for machines without GPUs, and for GPUs that this program does not manage. A
    change replaces the pool in Azure."""
    mode: Mode = "rdma-shared"
    """How pods get InfiniBand."""
    nic_driver: NicDriver = "doca-ofed"
    """Whose mlx5 driver the nodes run."""
    gpu_device_plugin: GpuDevicePlugin | None = None
    """Who runs the GPUs' device plugin. Default: the node image where it has the GPU driver, else the operator."""
    gpu_direct: GpuDirect | None = None
    """How HCAs reach GPUs' memory, where it is asked for. Default: nvidia-peermem beside doca-ofed, else DMA-BUF."""
    taints: tuple[Annotated[str, taint], ...] = ()
    """As key=value:Effect. Everything that is put on the pool tolerates them."""
    node_selector: Mapping[Annotated[str, label_key], Annotated[str, label_value]] = field(default_factory=dict)
    """Labels that the pool's nodes, and no others, carry. Default: AKS's own label of an agent pool."""
    ipoib_devices: tuple[Annotated[str, interface_name], ...] = ()
    """Parent interfaces of the IPoIB networks, one a rail. Default in mode ipoib: the size's first."""
    ipoib_networks: tuple[Annotated[str, namespace], ...] = ()
    """Names of these IPoIBNetworks, in the order of net1, net2, … Default: after the devices."""

    def __post_init__(self) -> None:
        keep_rules(self)
        devices = self.ipoib_devices
        if self.access.networks:
            devices = devices or self.size.ipoib_devices[:1]
            if not devices:
                raise ValueError(f"pool {self.name}: the interfaces of {self.size.name} are not known: ipoib_devices")
        # The defaults are resolved here, so that no reader of a pool has to do it.
        if self.gpu_device_plugin is None:
            object.__setattr__(self, "gpu_device_plugin", self.size.device_plugin_of(self.gpu_driver))
        object.__setattr__(self, "node_selector", self.node_selector or agent_pool_label(self.name))
        object.__setattr__(self, "ipoib_devices", devices)
        object.__setattr__(self, "ipoib_networks", self.ipoib_networks or tuple(map(network_name, devices)))

    @property
    def access(self) -> Access:
        """How pods get its HCAs: what the mode means."""
        return ACCESS[self.mode]

    @property
    def dma_buf(self) -> bool:
        """Whether HCAs reach GPUs' memory by DMA-BUF, so that nobody loads nvidia-peermem."""
        return by_dma_buf(self.gpu_direct, self.nic_driver)

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """One for each taint."""
        return tuple(map(toleration, self.taints))

    @property
    def ipoib_interfaces(self) -> list[str]:
        """A pod's interfaces beside eth0, one for each IPoIB network, as Multus names them; none in other modes."""
        return [f"net{number}" for number, _ in enumerate(self.ipoib_networks, start=1)] if self.access.networks else []

    @property
    def rdma_resource(self) -> str | None:
        """The extended resource under which a device plugin offers the HCAs; None where there is no device plugin."""
        return self.access.resource

    @property
    def rdma_quantity(self) -> int:
        """How much of rdma_resource a pod requests if it takes a whole machine."""
        if self.rdma_resource is None:
            return 0
        return self.size.infiniband.hca_count if self.access.each_hca else 1

    @property
    def has_compute_domain(self) -> bool:
        """Whether pods on several of its machines reach each other's GPUs by NVLink (`facts.compute_domains`)."""
        return self.size.nvlink_domain > 1 and self.gpu_driver != "none"

    @property
    def gpu_resource(self) -> str | None:
        """The extended resource of the GPUs; None where no device plugin offers them."""
        if self.size.accelerator is None or self.gpu_driver == "none":
            return None
        return self.size.accelerator.resource_name

    @property
    def promised_resources(self) -> dict[str, int]:
        """The extended resources of a pod that takes a whole machine: the least that every node has to offer.

        All GPUs, and of the HCAs what the mode says (`facts.modes`).
        """
        gpus = {self.gpu_resource: self.size.accelerator.count} if self.gpu_resource and self.size.accelerator else {}
        return {**gpus, **({self.rdma_resource: self.rdma_quantity} if self.rdma_resource else {})}


def toleration(text: str) -> Toleration:
    """The toleration of a taint written as Azure writes it, key=value:effect."""
    key_value, _, effect = text.rpartition(":")
    key, _, value = key_value.partition("=")
    return {"key": key, "operator": "Equal", "value": value, "effect": effect}


def too_many(pools: int, *, beside_the_systems: bool) -> str | None:
    """Why a cluster does not take so many pools, after "pools "; None where it does."""
    most = MOST_POOLS - beside_the_systems
    if pools <= most:
        return None
    beside = ", beside the system pool" if beside_the_systems else ""
    return f"must hold {most} pools at most{beside}: AKS takes {MOST_POOLS} in a cluster"


def repeated(names: Iterable[str]) -> dict[int, int]:
    """By the place of each name that another one before has, the place of that one: a pool's name is its own."""
    first: dict[str, int] = {}
    places = {index: first.setdefault(name, index) for index, name in enumerate(names)}
    return {index: before for index, before in places.items() if index != before}


def tolerates(given: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """Whether a toleration covers a taint, which is written as the toleration of it.

    As core/v1 has it: an empty key with Exists is every taint, an empty effect every effect.
    """
    if given.get("effect") not in (None, "", taint["effect"]):
        return False
    if given.get("operator") == "Exists":
        return given.get("key") in (None, "", taint["key"])
    return (given.get("key"), given.get("value") or "") == (taint["key"], taint.get("value") or "")


def tolerations(pools: Iterable[Pool]) -> list[Toleration]:
    """The tolerations of several pools. Each stands once, in the order of the pools."""
    found: list[Toleration] = []
    for pool in pools:
        found.extend(wanted for wanted in pool.tolerations if wanted not in found)
    return found


def tolerated(pools: Iterable[Pool]) -> dict[str, list[Toleration]]:
    """The field of a pod's spec. Without a taint there is no field: the API server drops an empty list, and a second
    `apply` would then ask for something else than what is there.
    """
    found = tolerations(pools)
    return {"tolerations": found} if found else {}


def node_term(labels: Mapping[str, str]) -> dict[str, Any]:
    """A nodeSelectorTerm of core/v1: nodes that carry all of these labels."""
    return {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in labels.items()]}


def node_selector(pools: Iterable[Pool], *, labels: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A NodeSelector of core/v1: nodes of any of the pools that carry all of these labels too."""
    return {"nodeSelectorTerms": [node_term({**labels, **pool.node_selector}) for pool in pools]}


def node_affinity(
    pools: Iterable[Pool], *, labels: Mapping[str, str] = MappingProxyType({})
) -> dict[str, dict[str, Any]]:
    """A nodeAffinity of core/v1: nodes of any of the pools that carry all of these labels too."""
    return {"requiredDuringSchedulingIgnoredDuringExecution": node_selector(pools, labels=labels)}
