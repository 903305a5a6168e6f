"""The address ranges that Azure takes, and the words that refuse a wrong one: rules as those of `rules`."""

from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

_RESERVED: Final = tuple(
    IPv4Network(network) for network in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
)
"""Ranges that AKS keeps for itself (Azure, "Use kubenet or CNI networking", prerequisites)."""
_RDMA: Final = IPv4Network("172.16.0.0/16")
"""Range in which Azure gives the HCAs of its HPC sizes their addresses (Azure/AKS pull request 5975, README.md of
distributed-training-rdma; seen as 172.16.1.2/16 in Azure/azure-ipoib-ipam-cni)."""
_NEVER: Final = tuple(
    IPv4Network(network)
    for network in ("0.0.0.0/8", "127.0.0.0/8", "168.63.129.16/32", "224.0.0.0/4", "255.255.255.255/32")
)
"""Ranges that no network of Azure has (Azure, "Virtual Network FAQ"), and that of no address (RFC 1122)."""
_PRIVATE: Final = tuple(IPv4Network(network) for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
"""RFC 1918. A range that holds one of them and more is a slip of the prefix."""
_SHARED: Final = IPv4Network("100.64.0.0/10")
"""RFC 6598: behind the address translation of a provider."""
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
    _possible(value)
    for private in _PRIVATE:
        if value.overlaps(private) and not value.subnet_of(private):
            raise ValueError(f"is larger than {private}, and what is beyond that is of the internet: must lie within")
    for reserved in _RESERVED:
        if value.overlaps(reserved):
            raise ValueError(f"overlaps {reserved}, which AKS keeps for itself")
    if value.overlaps(_RDMA):
        raise ValueError(f"overlaps {_RDMA}, in which Azure gives InfiniBand adapters their addresses")
    return value


def _possible(value: IPv4Network) -> None:
    for never in _NEVER:
        if value.overlaps(never):
            raise ValueError(f"overlaps {never}, which no network of Azure has")


def address(value: object) -> object:
    """An address as text: a number would be one too."""
    if not isinstance(value, str | IPv4Address):
        raise ValueError("must be an IPv4 address in quotes, such as '192.168.0.1'")
    return value


def public_range(value: IPv4Network) -> IPv4Network:
    """A range from which clients may reach a public API server."""
    if value == _ONLY_THE_CLUSTER:
        return value
    if not value.is_global:
        raise ValueError("must be public addresses: a public API server never sees private ones")
    for private in (*_PRIVATE, _SHARED):
        if value.overlaps(private):
            raise ValueError(
                f"holds {private}, which is not public: a public API server never sees it. Name smaller ranges"
            )
    _possible(value)
    return value


_RANGE: Final = {
    "type": "string",
    "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$",
    "patternErrorMessage": "must be an IPv4 range such as 10.224.0.0/16",
}
_Written = Annotated[IPv4Network, BeforeValidator(network), WithJsonSchema(_RANGE)]
Network = Annotated[_Written, AfterValidator(network_range)]
"""A range that a cluster may use."""
PublicRange = Annotated[_Written, AfterValidator(public_range)]
"""A range of the internet."""
