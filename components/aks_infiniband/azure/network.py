"""The addresses of a cluster's nodes and pods: a new virtual network, or subnets that exist."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final

import pulumi

from aks_infiniband.azure.arguments import ClusterNetwork, Tags
from aks_infiniband.facts.azure_names import LONGEST_NETWORK

_SUFFIX: Final = "-network"
"""Suffix of the virtual network's name, after the cluster's, of which the end gives way."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """The place of a cluster's parts, and their names."""

    name: str
    """The component's, which its parts have too."""
    cluster_name: str
    location: str
    resource_group_name: pulumi.Input[str]
    tags: Tags
    opts: pulumi.ResourceOptions
    """Options of the component's children."""


@dataclass(frozen=True, kw_only=True)
class Subnets:
    """The subnets of a cluster, by Azure's resource ID."""

    nodes: pulumi.Input[str]
    pods: pulumi.Input[str] | None
    """None with the overlay: pods then take no addresses of the network."""
    ours: bool
    """True if this program makes them; the identity then needs a role that it cannot have yet."""


def make_subnets(wanted: ClusterNetwork, place: Place) -> Subnets:
    """The existing subnets that are named, or a virtual network with one for the nodes."""
    if wanted.node_subnet_id is not None:
        return Subnets(nodes=wanted.node_subnet_id, pods=wanted.pod_subnet_id, ours=False)
    virtual_network = _Declared(
        "VirtualNetwork",
        place,
        {
            "location": place.location,
            "tags": dict(place.tags) or None,
            "virtualNetworkName": f"{place.cluster_name[: LONGEST_NETWORK - len(_SUFFIX)]}{_SUFFIX}",
            "addressSpace": {"addressPrefixes": [str(wanted.address_space)]},
            "enableDdosProtection": False,
            "enableVmProtection": False,
        },
        # The subnet is a separate resource; Azure reports it among the network's properties too.
        ignore_changes=["subnets"],
    )
    subnet = _Declared(
        "Subnet",
        place,
        {
            "virtualNetworkName": virtual_network.name,
            "subnetName": "nodes",
            "addressPrefix": str(wanted.subnet),
            "privateEndpointNetworkPolicies": "Disabled",
            "privateLinkServiceNetworkPolicies": "Enabled",
        },
    )
    return Subnets(nodes=subnet.id, pods=None, ours=True)


class _Declared(pulumi.CustomResource):
    """A resource of the SDK's package `network`, with the SDK's defaults and the properties' own names.

    Without that package, which takes more of the processor's time to load, and more memory, than all else that a
    program loads.
    """

    name: pulumi.Output[str]

    def __init__(self, kind: str, place: Place, properties: Mapping[str, Any], **options: Any) -> None:
        version = pulumi.ResourceOptions(version=metadata.version("pulumi_azure_native"), **options)
        super().__init__(
            f"azure-native:network:{kind}",
            place.name,
            {"resourceGroupName": place.resource_group_name, **properties, "name": None},
            pulumi.ResourceOptions.merge(place.opts, version),
        )
