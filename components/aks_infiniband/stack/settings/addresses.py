"""Address ranges: how they are written, and which of them a cluster may use."""

from ipaddress import IPv4Interface, IPv4Network
from typing import Final

_RESERVED: Final = tuple(
    IPv4Network(network) for network in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
)
"""Ranges that AKS keeps for itself (Azure, "Use kubenet or CNI networking", prerequisites)."""
_RDMA: Final = IPv4Network("172.16.0.0/16")
"""Range in which Azure gives the HCAs of its HPC sizes their addresses (Azure/AKS pull request 5975, README.md of
distributed-training-rdma; seen as 172.16.1.2/16 in Azure/azure-ipoib-ipam-cni)."""
_ONLY_THE_CLUSTER: Final = IPv4Network("0.0.0.0/32")
"""Stands for the cluster's own outbound address (Azure, "API server authorized IP ranges")."""


def network(value: object) -> IPv4Network:
    """A range in the notation that Azure takes."""
    if isinstance(value, IPv4Network):
        return value
    try:
        meant = IPv4Interface(value).network if isinstance(value, str) and "/" in value else None
    except ValueError:
        meant = None
    if meant is None:
        raise ValueError("must be an IPv4 range such as 10.224.0.0/16")
    if str(meant) != value:
        raise ValueError(f"must be written by its first address: {meant}")
    return meant


def network_range(value: IPv4Network) -> IPv4Network:
    """A range that a cluster may use."""
    for reserved in _RESERVED:
        if value.overlaps(reserved):
            raise ValueError(f"overlaps {reserved}, which AKS keeps for itself")
    if value.overlaps(_RDMA):
        raise ValueError(f"overlaps {_RDMA}, in which Azure gives InfiniBand adapters their addresses")
    return value


def public_range(value: IPv4Network) -> IPv4Network:
    """A range from which somebody may reach a public API server."""
    if value != _ONLY_THE_CLUSTER and not value.is_global:
        raise ValueError("must be public addresses: a public API server never sees private ones")
    return value
