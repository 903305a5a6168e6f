"""The way in which pods get the HCAs of nodes that others keep: read from the nodes' resources and from the policies.

A mode is not written anywhere in such a cluster. So every way that its nodes and policies offer is found, and if there
are several, a person decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from aks_infiniband.diagnosis.asks import is_rdma
from aks_infiniband.diagnosis.device_plugins import SHARED, WHOLE, Entry, entries
from aks_infiniband.diagnosis.holds import holder_of as holder_of_taint
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL, SHORT_AGENT_POOL_LABEL, SIZE_LABEL
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize, Mode, NicDriver
from aks_infiniband.facts.dranet import DEVICE_CLASS, DRIVER
from aks_infiniband.facts.managed import DRANET, managed_of
from aks_infiniband.facts.modes import ACCESS, Access
from aks_infiniband.facts.pool import Pool
from aks_infiniband.facts.rules import is_of_kubernetes
from aks_infiniband.operators.existing_network_operator import Node, common_labels, config_of, holder_of, name_of
from aks_infiniband.operators.existing_policy import LOOK_SECONDS, Policy
from aks_infiniband.resources.quantities import quantity

_NETWORKS_IN: Final = "default"
"""Namespace of the NetworkAttachmentDefinition of an IPoIBNetwork that names none (Mellanox/network-operator b06827e of
2026-08-19, pkg/state/state_ipoib_network.go)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """The content of a cluster, as its API server reports it."""

    policies: Sequence[Policy] = ()
    """NicClusterPolicies and NicNodePolicies."""
    networks: Sequence[Mapping[str, Any]] = ()
    """IPoIBNetworks."""
    slices: Sequence[Mapping[str, Any]] = ()
    """ResourceSlices."""
    device_classes: Sequence[str] = ()
    """Names of DeviceClasses with devices of dranet, which this program, others or AKS run."""


def offers(kubeconfig: str) -> tuple[Seen, list[str]]:
    """The objects of a cluster that hand out HCAs, and the reason why it could not be read."""
    from aks_infiniband.diagnosis.collect import infiniband_offers, nic_policies  # noqa: PLC0415  as in existing_network_operator

    policies, unread = nic_policies(kubeconfig, limit_seconds=LOOK_SECONDS)
    networks, slices, classes, also_unread = infiniband_offers(kubeconfig, limit_seconds=LOOK_SECONDS)
    names = [str(device_class["metadata"]["name"]) for device_class in classes if _is_of_dranet(device_class)]
    return Seen(policies=policies, networks=networks, slices=slices, device_classes=names), [*unread, *also_unread]


def _is_of_dranet(device_class: Mapping[str, Any]) -> bool:
    """A DeviceClass that selects by dranet's name or attributes."""
    selectors = (device_class.get("spec") or {}).get("selectors") or []
    return any(DRIVER in str((each.get("cel") or {}).get("expression")) for each in selectors)


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One way to hand the HCAs of some nodes to pods."""

    mode: Mode
    """The name of its resource."""
    because: str
    """The object that offers it, in words."""
    resource: str | None = None
    """The extended resource, if a device plugin offers one."""
    nic_driver: NicDriver = "inbox"
    """The mlx5 driver that the nodes run."""
    networks: Mapping[str, str] = field(default_factory=dict)
    """In mode ipoib: by name, the parent interface of each network."""
    networks_in: str = _NETWORKS_IN
    """Namespace of the networks."""
    device_class: str = DEVICE_CLASS
    """The DeviceClass of the claims, in mode dra."""

    def __str__(self) -> str:
        return f"{self.mode} ({self.because})"


class UndecidedError(ValueError):
    """The cluster does not say how pods get the HCAs, or says it in several ways."""

    def __init__(self, text: str, *, choices: bool) -> None:
        super().__init__(text)
        self.choices = choices
        """True if the text has ways between which a person may decide."""


def ways(nodes: Sequence[Node], size: MachineSize, seen: Seen) -> list[Way]:
    """Every way in which pods can have the HCAs of these nodes, without privileged pods if anything hands them out.

    size: of all the machines.
    """
    labels = common_labels(nodes)
    driver: NicDriver = "doca-ofed" if holder_of(seen.policies, labels, "ofedDriver") is not None else "inbox"
    every = [
        replace(way, nic_driver=driver) for way in (*_by_resource(nodes, labels, size, seen), *_by_claim(nodes, seen))
    ]
    if not every and driver == "doca-ofed":
        every = [privileged(nodes, seen)]
    return every


def privileged(nodes: Sequence[Node], seen: Seen) -> Way:
    """The way that every node with a driver has: pods that mount its devices."""
    policy = holder_of(seen.policies, common_labels(nodes), "ofedDriver")
    if policy is None:
        return Way(mode="driver-only", because="privileged pods, with the driver of the node image")
    because = f"{name_of(policy)} installs the driver, and nothing offers the HCAs"
    return Way(mode="driver-only", because=because, nic_driver="doca-ofed")


def _by_resource(nodes: Sequence[Node], labels: Mapping[str, str], size: MachineSize, seen: Seen) -> Iterator[Way]:
    told = {entry.resource: entry for entry in _told(labels, seen.policies)}
    for resource in sorted({name for node in nodes for name in offered(node) if name in told or is_rdma(name)}):
        entry = told.get(resource)
        for mode in _modes(resource, entry):
            by = f"told by {entry.where}" if entry else "a policy does not name it"
            way = Way(mode=mode, resource=resource, because=f"nodes offer {resource}, {by}")
            yield way
            if mode == "rdma-shared":
                yield from _with_networks(way, size, seen)


def _modes(resource: str, entry: Entry | None) -> list[Mode]:
    """The possible modes of a resource: one if its plugin is known, by its configuration or by our own names."""
    plugins = (
        [entry.plugin] if entry else [access.device_plugin for access in _PLAIN.values() if access.resource == resource]
    )
    return [mode for mode, access in _PLAIN.items() if access.device_plugin in (plugins or (SHARED, WHOLE))]


_PLAIN: Final[Mapping[Mode, Access]] = {
    mode: access for mode, access in ACCESS.items() if access.device_plugin and not access.networks
}
"""The modes in which a device plugin alone hands out the HCAs."""


def _told(labels: Mapping[str, str], policies: Sequence[Policy]) -> Iterator[Entry]:
    for plugin in (SHARED, WHOLE):
        policy = holder_of(policies, labels, plugin)
        if policy is not None:
            yield from entries(config_of(policy, plugin), name_of(policy), [plugin])


def _with_networks(way: Way, size: MachineSize, seen: Seen) -> Iterator[Way]:
    """The same with the IPoIB networks whose parent interfaces such machines have; those of one namespace together."""
    by_namespace: dict[str, dict[str, str]] = {}
    for network in seen.networks:
        spec = network.get("spec") or {}
        if spec.get("master") in size.ipoib_devices:
            place = str(spec.get("networkNamespace") or _NETWORKS_IN)
            by_namespace.setdefault(place, {})[str(network["metadata"]["name"])] = str(spec["master"])
    for place, networks in sorted(by_namespace.items()):
        because = f"{way.because}, and pods join {', '.join(f'{place}/{name}' for name in networks)}"
        yield replace(way, mode="ipoib", because=because, networks=networks, networks_in=place)


def _by_claim(nodes: Sequence[Node], seen: Seen) -> Iterator[Way]:
    names = {str(node["metadata"]["name"]) for node in nodes}
    specs = [one.get("spec") or {} for one in seen.slices]
    published = any(spec.get("driver") == DRIVER and spec.get("nodeName") in names for spec in specs)
    by_aks = any(each is DRANET for node in nodes for each in managed_of(node["metadata"].get("labels") or {}))
    classes = [DEVICE_CLASS] if DEVICE_CLASS in seen.device_classes else sorted(seen.device_classes)
    if published and classes:
        whose = f"{DRANET.name} ({DRIVER})" if by_aks else DRIVER
        because = f"{whose} publishes HCAs, and claims of DeviceClass {classes[0]} get them"
        yield Way(mode="dra", because=because, device_class=classes[0])


def decided(every: Sequence[Way], *, mode: Mode | None = None, resource: str | None = None) -> Way:
    """The one way that a person chose, or the only one. Raises UndecidedError with the choices.

    mode, resource: as a person gave them.
    """
    fits = [way for way in every if mode in (None, way.mode) and resource in (None, way.resource)]
    if len(fits) == 1:
        return fits[0]
    if not every:
        raise UndecidedError("nothing hands the HCAs to pods: no resource, no claim, and no policy", choices=False)
    if not fits:
        asked = ", ".join(word for word in (mode and f"mode {mode}", resource and f"resource {resource}") if word)
        raise UndecidedError(f"{asked}: this way is not offered. There are: {'; '.join(map(str, every))}", choices=True)
    raise UndecidedError(f"there are several ways: {'; '.join(map(str, fits))}", choices=True)


def offered(node: Node) -> dict[str, int]:
    """The extended resources that a node has to give, and how much of each."""
    allocatable = (node.get("status") or {}).get("allocatable") or {}
    amounts = {str(name): int(quantity(amount)) for name, amount in allocatable.items() if "/" in name}
    return {name: amount for name, amount in amounts.items() if amount > 0}


def agent_pool_of(node: Node) -> str:
    """AKS's name of a node's pool; empty for a node of another distribution."""
    labels = node["metadata"].get("labels") or {}
    return str(labels.get(AGENT_POOL_LABEL) or labels.get(SHORT_AGENT_POOL_LABEL) or "")


def infiniband_pools(nodes: Iterable[Node]) -> dict[tuple[str, str], list[str]]:
    """The nodes whose size has InfiniBand, by what AKS calls their pool and by their size."""
    names: dict[tuple[str, str], list[str]] = {}
    for node in nodes:
        size = str((node["metadata"].get("labels") or {}).get(SIZE_LABEL))
        if size in SIZES:
            names.setdefault((agent_pool_of(node), size), []).append(str(node["metadata"]["name"]))
    return names


def size_of(nodes: Iterable[Node]) -> MachineSize:
    """The size of all machines. Raises ValueError, with what is allowed, if it is unknown or there are several."""
    known = {size.lower(): size for size in SIZES}
    by_size: dict[str, list[str]] = {}
    for node in nodes:
        said = str((node["metadata"].get("labels") or {}).get(SIZE_LABEL) or "")
        by_size.setdefault(known.get(said.lower(), said), []).append(str(node["metadata"]["name"]))
    if len(by_size) > 1:
        told = "; ".join(f"{size or 'no size'}: {', '.join(names[:3])}" for size, names in sorted(by_size.items()))
        raise ValueError(f"the nodes are of several sizes (label {SIZE_LABEL}): {told}; they must be of one")
    (name,) = by_size
    if name not in SIZES:
        raise ValueError(
            f"the machine size of the nodes (label {SIZE_LABEL}) is {name or 'not given'}; it must be one that has "
            f"InfiniBand and is in the catalogue: {', '.join(sorted(SIZES))}"
        )
    return SIZES[name]


class FoundPool(Pool):
    """A pool as others have made it: pods request its HCAs by the cluster's name for them."""

    resource: str | None = None
    """The extended resource of the HCAs."""
    device_class: str = DEVICE_CLASS
    """The DeviceClass of claims for the HCAs."""
    nvlink: bool = True
    """True if the cluster has ComputeDomains, which take NVLink beyond a machine."""

    @property
    def access(self) -> Access:
        """The way in which pods get its HCAs: the meaning of the mode, with the cluster's own name."""
        return replace(ACCESS[self.mode], resource=self.resource, device_class=self.device_class)

    @property
    def has_compute_domain(self) -> bool:
        """True if pods on several of its machines reach each other's GPUs by NVLink."""
        return self.nvlink and self.size.nvlink_domain > 1 and self.gpu_driver != "none"


def taints_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    """The taints that keep work off nodes and that people have put there, as key=value:effect: pods tolerate them.

    Taints that a controller or a program has put there, to keep a node free, are left out: pods should not tolerate
    them.
    """
    taints: dict[str, None] = {}
    for node in nodes:
        for taint in _keeping(node):
            if not holder_of_taint(taint, node) and not is_of_kubernetes(str(taint["key"])):
                value = f"={taint['value']}" if taint.get("value") else ""
                taints[f"{taint['key']}{value}:{taint['effect']}"] = None
    return tuple(taints)


def held(node: Node) -> str:
    """The author that keeps a node free by a taint, in words; empty if there is none."""
    for taint in _keeping(node):
        hold = holder_of_taint(taint, node)
        if hold is not None:
            return f"{hold.author} holds it: {hold.meaning}"
        if is_of_kubernetes(str(taint["key"])):
            return f"Kubernetes keeps work off it: taint {taint['key']}"
    return ""


def _keeping(node: Node) -> list[Mapping[str, Any]]:
    taints = (node.get("spec") or {}).get("taints") or []
    return [taint for taint in taints if taint.get("effect") in ("NoSchedule", "NoExecute")]


def found_pool(name: str, nodes: Sequence[Node], way: Way, *, selector: Mapping[str, str], nvlink: bool) -> FoundPool:
    """The pool of these nodes. Raises ValueError as size_of does.

    selector: the labels by which they were chosen. nvlink: whether the cluster knows ComputeDomains.
    """
    size = size_of(nodes)
    gpus = size.accelerator is not None and any(size.accelerator.resource_name in offered(node) for node in nodes)
    return FoundPool(
        name=name,
        size=size,
        node_count=len(nodes),
        gpu_driver="operator" if gpus else "none",
        mode=way.mode,
        nic_driver=way.nic_driver,
        taints=taints_of(nodes),
        node_selector=dict(selector),
        ipoib_devices=tuple(way.networks.values()),
        ipoib_networks=tuple(way.networks),
        resource=way.resource,
        device_class=way.device_class,
        nvlink=nvlink,
    )
