"""What Azure and Kubernetes take for one value, and the words in which a wrong one is refused.

Each rule returns the value it was given, or raises ValueError with a text that goes on after "KEY is VALUE; ".
"""

import re
from collections.abc import Callable
from difflib import get_close_matches
from ipaddress import IPv4Interface, IPv4Network
from typing import Final

from aks_infiniband.catalog import SIZES
from aks_infiniband.versions import MINIMUM_KUBERNETES

_LABEL_NAME: Final = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
_LABEL_KEY: Final = rf"([a-z0-9]([a-z0-9.-]{{0,251}}[a-z0-9])?/)?{_LABEL_NAME}"
_TAINT: Final = rf"{_LABEL_KEY}(={_LABEL_NAME})?:(NoSchedule|PreferNoSchedule|NoExecute)"
_NO_SOFTWARE: Final = {
    "Standard_ND96isr_MI300X_v5": "the ROCm GPU operator",
    "Standard_ND128isr_NDR_GB200_v6": "the NVIDIA DRA driver with ComputeDomains",
    "Standard_ND128isr_GB300_v6": "the NVIDIA DRA driver with ComputeDomains",
}
"""Sizes whose InfiniBand we know and whose GPU software we do not install yet."""
_RESERVED: Final = tuple(
    IPv4Network(network) for network in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24")
)
"""Ranges that AKS keeps for itself (Azure, "Use kubenet or CNI networking", prerequisites)."""


def matching(pattern: str, says: str) -> Callable[[str], str]:
    """A rule: the value matches the pattern as a whole. says: the same in words, after "must be"."""
    compiled = re.compile(pattern)

    def rule(value: str) -> str:
        if not compiled.fullmatch(value):
            raise ValueError(f"must be {says}")
        return value

    return rule


pool_name = matching(r"[a-z][a-z0-9]{0,11}", "1 to 12 lower-case letters and digits, a letter first")
resource_name = matching(
    r"[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?",
    "1 to 63 letters, digits, - and _, a letter or digit first and last",
)
resource_group_name = matching(r"[\w().-]{0,89}[\w()-]", "1 to 90 letters, digits, _ ( ) - and ., not ending with .")
vm_size = matching(r"Standard_[A-Za-z0-9_-]+", "an Azure VM size, such as Standard_D8s_v5")
zone = matching(r"[123]", "an availability zone: '1', '2' or '3'")
label_key = matching(_LABEL_KEY, "a Kubernetes label key")
label_value = matching(rf"({_LABEL_NAME})?", "a Kubernetes label value: at most 63 letters, digits, - _ and .")
chart_repository = matching(
    r"https?://.+", "the http:// or https:// URL of a chart repository; an oci:// address is given as the chart's name"
)
taint = matching(_TAINT, "a taint, key=value:NoSchedule (or PreferNoSchedule, NoExecute)")


def label(key: str) -> str:
    """A label that a pool may carry: not one of those that AKS sets itself."""
    label_key(key)
    if key.split("/", maxsplit=1)[0].endswith("kubernetes.azure.com"):
        raise ValueError("must not be in kubernetes.azure.com: AKS keeps that prefix for its own labels")
    return key


def kubernetes_version(value: str) -> str:
    """A version as AKS takes it, not older than the operators support."""
    oldest = ".".join(map(str, MINIMUM_KUBERNETES))
    found = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)?", value)
    if not found:
        raise ValueError(f'must be a quoted version such as "1.34" or "1.34.2", {oldest} or later')
    if (int(found[1]), int(found[2])) < MINIMUM_KUBERNETES:
        raise ValueError(f"must be {oldest} or later: the Network Operator supports no older Kubernetes")
    return value


def infiniband_size(value: str) -> str:
    """A size of the catalogue whose GPU software we install."""
    if value in _NO_SOFTWARE:
        raise ValueError(f"is not supported yet: its GPUs need {_NO_SOFTWARE[value]}, which is not installed so far")
    if value in SIZES:
        return value
    features = re.fullmatch(r"Standard_[A-Z]+\d+(?:-\d+)?([a-z]*)(_\w+)?", value)
    if features and "r" not in features[1]:
        raise ValueError(
            f"has no InfiniBand (a size that has it carries an r, for RDMA, behind its number){_near(value)}"
        )
    supported = ", ".join(size for size in SIZES if size not in _NO_SOFTWARE)
    raise ValueError(f"must be a known InfiniBand size{_near(value)}; known: {supported}")


def system_size(value: str) -> str:
    """A size for the system pool: any but those with InfiniBand."""
    if value in SIZES:
        raise ValueError("is an InfiniBand size: give it a pool of its own under aks-infiniband:pools")
    return vm_size(value)


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
    return value


def _near(value: str) -> str:
    close = get_close_matches(value, SIZES, n=1)
    return f"; nearest known size: {close[0]}" if close else ""
