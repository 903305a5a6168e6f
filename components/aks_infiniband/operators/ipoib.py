"""IP over InfiniBand: a network that pods join by name, and the addresses that it gives them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Annotated, Any

import pulumi
import pulumi_kubernetes as kubernetes

from aks_infiniband import diagnosis
from aks_infiniband.facts import rules
from aks_infiniband.facts.bounds import PerNode, keep_rules
from aks_infiniband.facts.pool import Pool, node_selector
from aks_infiniband.resources import metadata
from aks_infiniband.resources.options import WaitArgs, wait_annotations


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """One network, as it follows from the pools."""

    name: str
    """Name of the IPoIBNetwork, the IPPool and the NetworkAttachmentDefinition."""
    device: str
    """The parent interface on the nodes."""
    subnet: IPv4Network
    """The addresses that its pods get."""
    per_node: PerNode
    """Addresses in the block that NV-IPAM gives each node, and so the number of its pods that can join the network."""
    gateway: IPv4Address | None = None
    """None if the fabric is one subnet and nothing routes."""
    pools: tuple[Pool, ...]
    """The pools whose pods join it."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number of addresses that NV-IPAM does not take."""
        keep_rules(self)


def ipoib_ranges(addresses: IPv4Network, devices: Iterable[str]) -> dict[str, IPv4Network]:
    """The addresses of the network on each device: the whole range for one, else the first of 2, 4, 8, … equal parts.

    Raises ValueError for a range that cannot be split so often.
    """
    names = list(dict.fromkeys(devices))
    halvings = max(0, len(names) - 1).bit_length()
    return dict(zip(names, addresses.subnets(prefixlen_diff=halvings), strict=False))


def ipoib_networks(
    pools: Sequence[Pool], addresses: IPv4Network, *, per_node: int = 16, gateway: IPv4Address | None = None
) -> list[Network]:
    """The networks of the pools in mode ipoib, in the order of the pools and their rails.

    addresses: the range; each network takes an equal part of it.
    per_node: addresses in every node's block.
    gateway: of the network in whose range it lies.

    Pools with the same parent device share a network, but not a fabric: no path leads from one pool to another.
    """
    devices: dict[str, str] = {}
    members: dict[str, list[Pool]] = {}
    for pool in pools:
        if pool.access.networks:
            for name, device in zip(pool.ipoib_networks, pool.ipoib_devices, strict=True):
                devices[name] = device
                members.setdefault(name, []).append(pool)
    ranges = ipoib_ranges(addresses, devices.values())
    return [
        Network(
            name=name,
            device=device,
            subnet=ranges[device],
            per_node=per_node,
            gateway=gateway if gateway is not None and gateway in ranges[device] else None,
            pools=tuple(members[name]),
        )
        for name, device in devices.items()
    ]


def ip_pool_spec(network: Network) -> dict[str, Any]:
    """The spec of the IPPool: a block of addresses for each node of the network's pools, and for no other."""
    spec: dict[str, Any] = {
        "subnet": str(network.subnet),
        "perNodeBlockSize": network.per_node,
        "nodeSelector": node_selector(network.pools),
    }
    if network.gateway is not None:
        spec["gateway"] = str(network.gateway)
    return spec


def ipoib_network_spec(network: Network, *, namespace: str) -> dict[str, Any]:
    """The spec of the IPoIBNetwork.

    namespace: of its NetworkAttachmentDefinition; pods of other namespaces write it before the name.
    """
    # The operator's template takes whatever is between braces, so it is JSON already.
    return {
        "networkNamespace": namespace,
        "master": network.device,
        "ipam": json.dumps({"type": "nv-ipam", "poolName": network.name}),
    }


@dataclass(frozen=True, kw_only=True)
class IpoibNetworkArgs(WaitArgs):
    """The arguments of an IpoibNetwork."""

    network: Network
    """Its name, parent device, addresses and pools."""
    namespace: Annotated[str, rules.namespace]
    """An existing namespace for its NetworkAttachmentDefinition."""


class IpoibNetwork(pulumi.ComponentResource):
    """A network over InfiniBand that pods join with the annotation `k8s.v1.cni.cncf.io/networks`, and its addresses.

    The definition of its IPPool exists only once the operator has applied the NicClusterPolicy of a pool in mode
    ipoib: give that component as depends_on.
    """

    attachment: pulumi.Output[str]
    """Value of the annotation: namespace and name of the NetworkAttachmentDefinition."""

    def __init__(self, name: str, *, args: IpoibNetworkArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("aks-infiniband:index:IpoibNetwork", name, None, opts)
        network = args.network
        waiting = diagnosis.Waiting(component=self, opts=opts, args=args, pools=network.pools)
        labels = metadata.labels(network.name, "network")
        addresses = kubernetes.apiextensions.CustomResource(
            f"{name}-addresses",
            api_version="nv-ipam.nvidia.com/v1alpha1",
            kind="IPPool",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                # NV-IPAM reads only the pools of the operator's namespace.
                name=network.name,
                namespace=metadata.NETWORK_OPERATOR_NAMESPACE,
                labels=labels,
            ),
            spec=ip_pool_spec(network),
            opts=waiting.child_options(f"{name}-addresses", "ip-pool"),
        )
        attached = kubernetes.apiextensions.CustomResource(
            name,
            api_version="mellanox.com/v1alpha1",
            kind="IPoIBNetwork",
            metadata=kubernetes.meta.v1.ObjectMetaArgs(
                name=network.name, labels=labels, annotations=wait_annotations(args)
            ),
            spec=ipoib_network_spec(network, namespace=args.namespace),
            # The operator takes these annotations away as soon as it has seen the network. The annotations are no
            # longer needed then: the provider waits by those that it is given. Put back, they would be a change at
            # every update. The operators do it with this kind alone (Mellanox/network-operator b06827e,
            # NVIDIA/gpu-operator a22dbf6 and ROCm/gpu-operator 6df13c1 of August 2026, all uses of SetAnnotations).
            opts=waiting.child_options(
                name, "ipoib-network", depends_on=[addresses], ignore_changes=["metadata.annotations"]
            ),
        )
        self.attachment = attached.id.apply(lambda _: f"{args.namespace}/{network.name}")
        self.register_outputs({"attachment": self.attachment})
