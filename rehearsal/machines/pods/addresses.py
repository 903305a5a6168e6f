"""Addresses of pods: those of their node's range."""

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

_POD_NETWORK = "10.244.0.0/16"
"""Pod addresses if a node lacks a pod CIDR: AKS's default for Azure CNI overlay and kubenet."""


def free_address(
    pod: Mapping[str, Any],
    node: Mapping[str, Any] | None,
    others: Iterable[Mapping[str, Any]],
    host_ip: str | None,
) -> str | None:
    """An address of the node's pod network that no other pod has; the node's own with host networking."""
    if pod["spec"].get("hostNetwork"):
        return host_ip
    network = ipaddress.ip_network(((node or {}).get("spec") or {}).get("podCIDR") or _POD_NETWORK)
    taken = {(other.get("status") or {}).get("podIP") for other in others}
    size = network.num_addresses - 2
    first = int(pod["metadata"]["uid"].replace("-", ""), 16) % size
    return next(
        (address for step in range(size) if (address := str(network[1 + (first + step) % size])) not in taken),
        None,
    )
