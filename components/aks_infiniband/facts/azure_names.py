"""Azure's regions with their zones, how long names may be, and what sizes without InfiniBand can be called.

Regions: the table `regions.yaml`.
Sizes: Azure, "Azure virtual machine sizes naming conventions" and the size pages of the D, E and F families up to v5;
MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), use-system-pools.md.
"""

import re
from typing import Final

from aks_infiniband.facts.tables import table

REGIONS_OF: Final = "2025-09-23"
_REGIONS: Final = table(__package__, "regions.yaml")
REGIONS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_REGIONS["with_zones"], ("1", "2", "3")),
    **dict.fromkeys(_REGIONS["without"], ()),
}
"""By region, its availability zones."""

_NAME: Final = re.compile(r"Standard_([A-Z]{1,3})([0-9]{1,3})(-[0-9]{1,3})?([a-z]*(?:G[0-9])?)((?:_[A-Za-z0-9]+)*)")
_GENERATION: Final = re.compile(r".*_v([1-9])(_Promo)?")
_CORES: Final = {2, 4, 8, 16, 20, 32, 48, 64, 72, 80, 96, 104, 112}
"""vCPUs that sizes of the D, E and F families have up to v5."""
_DV2_CORES: Final = {"1": 1, "2": 2, "3": 4, "4": 8, "5": 16, "11": 2, "12": 4, "13": 8, "14": 16, "15": 20}
"""vCPUs of D and DS v2, whose names count otherwise."""
NO_SIZE: Final = "is not an Azure size: a name is as Standard_D8s_v5, and families have certain numbers of vCPUs"
SYSTEM_CORES: Final = 4
"""Least vCPUs of a system pool's machines."""


SIZE_LABEL: Final = "node.kubernetes.io/instance-type"
"""The label with which a node names its machine's size (Kubernetes, "Well-Known Labels, Annotations and Taints")."""
AGENT_POOL_LABEL: Final = "kubernetes.azure.com/agentpool"
SHORT_AGENT_POOL_LABEL: Final = "agentpool"
"""One of the two labels with which AKS's nodes name their pool (Azure, "Use labels in an Azure Kubernetes Service (AKS)
cluster", reserved system labels, read 2026-11-23).
"""

LONGEST_NODE_GROUP: Final = 80
"""Characters of a node resource group's name; of a longer one AKS says "The length of the node resource group name is
too long" (MicrosoftDocs/SupportArticles-docs, aks-common-issues-faq.yml, 2023-11-14)."""
LONGEST_NETWORK: Final = 64
"""Characters of a virtual network's name (Azure, "Naming rules and restrictions for Azure resources")."""


def node_group(group: str, cluster: str, region: str) -> str:
    """The name that AKS gives the node resource group if no name is given (MicrosoftDocs/azure-aks-docs 0382c94,
    2026-09-15, faq.yml). The cluster's name may hold underscores too.
    """
    return f"MC_{group}_{cluster}_{region}"


def is_size(name: str) -> bool:
    """True if Azure can have a size without InfiniBand of this name."""
    size, generation = _NAME.fullmatch(name), _GENERATION.fullmatch(name)
    if size is None or ("_v" in name and generation is None):
        return False
    if size[1] not in ("D", "E", "F") or generation is None or int(generation[1]) not in (3, 4, 5):
        return True
    return int(size[2]) in _CORES


def has_rdma(name: str) -> bool:
    """True if a size's name carries the r of those with InfiniBand, behind its number."""
    size = _NAME.fullmatch(name)
    return size is None or "r" in size[4]


def pool_name_of(series: str) -> str:
    """A pool's name from the family's, without its version: 12 lower-case letters and digits at most, as AKS takes."""
    family = re.sub(r"_v\d+$", "", series).lower()
    return "".join(letter for letter in family if letter.isalnum())[:12]


def too_small_for_the_system(name: str) -> bool:
    """True if AKS takes no system pool of a size: below 4 vCPUs, or burstable."""
    size = _NAME.fullmatch(name)
    if size is None or "r" in size[4]:
        return False
    old = size[1] == "DS" or (size[1] == "D" and size[5].startswith("_v2"))
    cores = _DV2_CORES.get(size[2], SYSTEM_CORES) if old else int(size[2])
    return size[1] == "B" or cores < SYSTEM_CORES
