"""Where a cluster's nodes and pods get their addresses: a virtual network of our own, or subnets that exist."""

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import network

from aks_infiniband.azure.arguments import ClusterNetwork


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the parts of a cluster are made, and under which name."""

    name: str
    """The component's, which its parts have too."""
    cluster_name: str
    location: str
    resource_group_name: pulumi.Input[str]
    opts: pulumi.ResourceOptions
    """Options of the component's children."""


@dataclass(frozen=True, kw_only=True)
class Subnets:
    """The subnets of a cluster, by Azure's resource ID."""

    nodes: pulumi.Input[str]
    pods: pulumi.Input[str] | None
    """None with the overlay: pods then take no addresses of the network."""
    ours: bool
    """Whether this program makes them; the identity then needs a role that it cannot have yet."""


def make_subnets(wanted: ClusterNetwork, place: Place) -> Subnets:
    """The existing subnets that are named, or a virtual network with one for the nodes."""
    if wanted.node_subnet_id is not None:
        return Subnets(nodes=wanted.node_subnet_id, pods=wanted.pod_subnet_id, ours=False)
    virtual_network = network.VirtualNetwork(
        place.name,
        resource_group_name=place.resource_group_name,
        location=place.location,
        virtual_network_name=f"{place.cluster_name}-network",
        address_space=network.AddressSpaceArgs(address_prefixes=[str(wanted.address_space)]),
        # The subnet is a resource of its own; Azure reports it among the network's properties too.
        opts=pulumi.ResourceOptions.merge(place.opts, pulumi.ResourceOptions(ignore_changes=["subnets"])),
    )
    subnet = network.Subnet(
        place.name,
        resource_group_name=place.resource_group_name,
        virtual_network_name=virtual_network.name,
        subnet_name="nodes",
        address_prefix=str(wanted.subnet),
        opts=place.opts,
    )
    return Subnets(nodes=subnet.id, pods=None, ours=True)
