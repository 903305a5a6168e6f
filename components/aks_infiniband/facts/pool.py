"""The plain facts of one node pool: its machines, and everything on them, are built from these."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NotRequired, Self, TypedDict

from pydantic import AfterValidator, Field, InstanceOf, ValidationInfo, model_validator

from aks_infiniband.facts import rules
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.bounds import Nodes, Rails
from aks_infiniband.facts.catalog.machine import (
    GpuDevicePlugin,
    GpuDirect,
    GpuDriver,
    MachineSize,
    Mode,
    NicDriver,
)
from aks_infiniband.facts.modes import ACCESS, DEFAULT_MODE, Access
from aks_infiniband.facts.node_gate import DRAINING, EFFECT, NOT_MEASURED, Admission, Maintenance
from aks_infiniband.handwritten.section import WITH_HOLES, Section, follows

MOST_POOLS: Final = 100
"""Pools that AKS takes in one cluster (Azure, "Quotas, virtual machine size restrictions, and region availability",
read 2026-11-28)."""
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
"""Sizes for which Azure does not offer capacity reservations; scale sets of one placement group cannot have any either
(MicrosoftDocs/azure-compute-docs, capacity-reservation-overview.md, 2026-02-17). HX follows from the second alone.
"""
NETWORK: Final = "aks-infiniband"
"""Name of the IPoIB network on the first rail of most sizes, the one of the AKS InfiniBand guide."""
DEFAULT_RAILS: Final = 1
"""IPoIB networks of a pod."""
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
    return {AGENT_POOL_LABEL: pool_name}


def network_name(device: str) -> str:
    """Name of the IPoIB network on a parent device. The name depends on the device alone, whatever other pools there
    are.
    """
    return NETWORK if device == _FIRST_RAIL else f"{NETWORK}-{device.lower()}"


class AnyPool(Section):
    """The properties of every pool, with InfiniBand or without."""

    name: Annotated[str, rules.pool_name]
    """1 to 12 lower-case letters and digits, a letter first. Unique in the cluster."""
    taints: tuple[Annotated[str, rules.taint, AfterValidator(rules.own_taint)], ...] = ()
    """As key=value:Effect, one for each key and effect. Everything the program runs on the pool tolerates them."""


class PoolProperties(AnyPool):
    """The properties of a pool with InfiniBand. A field here is all that is said of one: the key of a stack file, the
    argument of a component, the input in other languages, its text, its bounds, and its default or what it follows
    from.
    """

    mode: Mode = follows(lambda pool: DEFAULT_MODE)
    """The way in which pods get InfiniBand. Default: in a stack file the network operator's mode, elsewhere
    rdma-shared.
    """
    nic_driver: NicDriver = follows(lambda pool: pool.size.default_nic_driver)
    """The mlx5 driver: doca-ofed or inbox. Default: in a stack file the network operator's, if it has one; else inbox
    for GB200 and GB300, and doca-ofed for all other sizes.
    """
    gpu_driver: GpuDriver = follows(lambda pool: pool.size.default_gpu_driver)
    """Owner of the GPUs' driver. operator: NVIDIA's, or AMD's, GPU Operator. aks: AKS, for NVIDIA's GPUs. image: the
    maker of the node image, for AMD's and for GB200 and GB300. none: no known owner, and GPUs are not offered to pods.
    Default: operator for NVIDIA's GPUs, none for AMD's and for sizes without GPUs. A change replaces the pool, except
    one between operator and image.
    """
    gpu_device_plugin: GpuDevicePlugin = follows(lambda pool: pool.size.device_plugin_of(pool.gpu_driver))
    """Owner of the device plugin that offers NVIDIA's GPUs to pods. operator: the GPU Operator. image: a service of the
    node image that has the driver too. Default: as gpuDriver says.
    """
    gpu_direct: GpuDirect = follows(lambda pool: "dmabuf" if pool.nic_driver == "inbox" else "nvidia-peermem")
    """The way from HCAs to the memory of GPUs (GPUDirect RDMA). dmabuf: through the kernel, so the GPU driver does not
    wait for OFED. nvidia-peermem: through a module that the GPU driver builds against OFED. auto: nvidia-peermem for
    V100, which lacks DMA-BUF, and dmabuf for every other GPU; new clusters should choose it. Default: nvidia-peermem
    with doca-ofed, dmabuf with inbox. A change restarts the GPU driver, node by node.
    """
    ipoib_devices: tuple[Annotated[str, rules.interface_name], ...] = follows(lambda pool: pool.first_devices)
    """In mode ipoib: parent interfaces of the IPoIB networks, one for each rail. Default: the catalogue's first for the
    size."""
    admission: Admission = "at-once"
    """When pods may come to a node that joined, was repaired or restarted. at-once. measured: when the light check or a
    command has measured it since with another node of the pool, and it did not fail. measured-or-late: the same, but a
    node that could not be measured is admitted ten minutes after it offered all that it has, and an Event says so.
    Both need lightCheck, and are not for mode driver-only. A change changes the tolerations of the
    operators' pods."""
    maintenance: Maintenance = "keep"
    """Treatment of the pods of a node for which Azure has announced maintenance. keep: they stay, and only the node has
    an Event. announce: the Job, JobSet, MPIJob or other owner of each pod has an Event too. drain: in addition pods are
    evicted before a reboot, a redeployment, a preemption or the end of the machine, as disruption budgets permit. Pods
    of DaemonSets, and those that no controller would create again, stay. drain-freeze: the same, before a freeze of
    seconds too. Every value except keep needs another admission than at-once."""
    node_selector: rules.Labels = follows(lambda pool: agent_pool_label(pool.name))
    """In an existing cluster: labels that the pool's nodes, and no others, carry. Default: AKS's own label of an agent
    pool."""


class Pool(PoolProperties):
    """One pool of InfiniBand machines of a known size.

    Raises ValueError for mode ipoib without a device.
    """

    size: InstanceOf[MachineSize]
    """The machine size, with its accelerators and HCAs."""
    node_count: Nodes = Field(strict=True)
    """Number of nodes; of an autoscaled pool the smallest number."""
    ipoib_rails: Rails = Field(default=DEFAULT_RAILS, strict=True)
    """In mode ipoib: the number of the size's interfaces with a network, if none is named."""
    ipoib_networks: tuple[Annotated[str, rules.namespace], ...] = follows(
        lambda pool: tuple(map(network_name, pool.ipoib_devices))
    )
    """In mode ipoib: names of the IPoIB networks, in the order of net1, net2, … Default: aks-infiniband, or
    aks-infiniband- and the interface."""

    @model_validator(mode="after")
    def _has_devices(self, info: ValidationInfo) -> Self:
        if info.context is not WITH_HOLES and self.access.networks and not self.ipoib_devices:
            raise ValueError(f"pool {self.name}: the interfaces of {self.size.name} are not known: ipoib_devices")
        return self

    def __eq__(self, other: object) -> bool:
        """True if all facts are the same, given or not."""
        return isinstance(other, Pool) and all(
            getattr(self, name) == getattr(other, name) for name in type(self).model_fields
        )

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def first_devices(self) -> tuple[str, ...]:
        """The interfaces that have an IPoIB network if none is named; none in other modes."""
        return self.size.ipoib_devices[: self.ipoib_rails] if self.access.networks else ()

    @property
    def access(self) -> Access:
        """The way in which pods get its HCAs: the meaning of the mode."""
        return ACCESS[self.mode]

    @property
    def dma_buf(self) -> bool:
        """True if HCAs reach GPUs' memory by DMA-BUF, so that nvidia-peermem is not loaded. With OFED it is not the
        default: that would restart drivers that are in use.
        """
        return self.asks_for_dma_buf or self.nic_driver == "inbox"

    @property
    def asks_for_dma_buf(self) -> bool:
        """True if gpu_direct chooses DMA-BUF, which then does not only follow from the NIC driver."""
        asked = self.said("gpu_direct")
        if asked != "auto":
            return bool(asked == "dmabuf")
        return self.size.accelerator is not None and self.size.accelerator.dma_buf

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        """One for each taint: those of workloads."""
        return tuple(map(toleration, self.taints))

    @property
    def is_gated(self) -> bool:
        """True if pods are kept off a node of the pool until it is measured."""
        return self.admission != "at-once"

    @property
    def announces_maintenance(self) -> bool:
        """True if the owners of its pods have Events about announced maintenance."""
        return self.maintenance != "keep"

    @property
    def drains(self) -> bool:
        """True if pods are evicted before announced maintenance."""
        return self.maintenance in DRAINING

    @property
    def upkeep_tolerations(self) -> tuple[Toleration, ...]:
        """The tolerations of what the program and the operators run on the pool, on a node that is not measured too."""
        gate: Toleration = {"key": NOT_MEASURED, "operator": "Exists", "effect": EFFECT}
        return (*self.tolerations, *([gate] if self.is_gated else []))

    @property
    def ipoib_interfaces(self) -> list[str]:
        """A pod's interfaces in addition to eth0, one for each IPoIB network, as Multus names them; none in other
        modes.
        """
        return [f"net{number}" for number, _ in enumerate(self.ipoib_networks, start=1)] if self.access.networks else []

    @property
    def rdma_resource(self) -> str | None:
        """The extended resource under which a device plugin offers the HCAs; None without a device plugin."""
        return self.access.resource

    @property
    def rdma_quantity(self) -> int:
        """The amount of rdma_resource that a pod requests if it takes a whole machine."""
        if self.rdma_resource is None:
            return 0
        return self.size.infiniband.hca_count if self.access.each_hca else 1

    @property
    def has_compute_domain(self) -> bool:
        """True if pods on several of its machines reach each other's GPUs by NVLink (`facts.compute_domains`)."""
        return self.size.nvlink_domain > 1 and self.gpu_driver != "none"

    @property
    def gpu_resource(self) -> str | None:
        """The extended resource of the GPUs; None if no device plugin offers them."""
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


def taint_text(tolerated: Toleration) -> str:
    """The taint of a toleration as Azure writes it."""
    value = f"={tolerated['value']}" if "value" in tolerated else ""
    return f"{tolerated['key']}{value}:{tolerated['effect']}"


def too_many(pools: int, *, beside_the_systems: bool) -> str | None:
    """The reason why a cluster does not take so many pools, after "pools "; None if it does."""
    most = MOST_POOLS - beside_the_systems
    if pools <= most:
        return None
    beside = ", in addition to the system pool" if beside_the_systems else ""
    return f"must hold {most} pools at most{beside}: AKS takes {MOST_POOLS} in a cluster"


def repeated(names: Iterable[str]) -> dict[int, int]:
    """By the place of each name that another one before has, the place of that one: a pool's name is its own."""
    first: dict[str, int] = {}
    places = {index: first.setdefault(name, index) for index, name in enumerate(names)}
    return {index: before for index, before in places.items() if index != before}


def tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    """True if a toleration covers a taint, which is written as the toleration of it.

    As core/v1 has it: an empty key with Exists is every taint, an empty effect every effect.
    """
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("operator") == "Exists":
        return toleration.get("key") in (None, "", taint["key"])
    return (toleration.get("key"), toleration.get("value") or "") == (taint["key"], taint.get("value") or "")


def tolerations(pools: Iterable[Pool]) -> list[Toleration]:
    """The tolerations of what the program and the operators run on several pools. Each stands once, in the order of the
    pools.
    """
    every: list[Toleration] = []
    for pool in pools:
        every.extend(wanted for wanted in pool.upkeep_tolerations if wanted not in every)
    return every


def tolerated(pools: Iterable[Pool]) -> dict[str, list[Toleration]]:
    """The field of a pod's spec, for a pod of the program or the operators."""
    return _field(tolerations(pools))


def tolerated_by_workloads(pool: Pool) -> dict[str, list[Toleration]]:
    """The same field for a pod that works."""
    return _field(list(pool.tolerations))


def _field(every: list[Toleration]) -> dict[str, list[Toleration]]:
    """The field, left out without a taint: the API server drops an empty list, and a second `apply` would then differ
    from what is there.
    """
    return {"tolerations": every} if every else {}


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
