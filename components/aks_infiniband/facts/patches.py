"""Patches of Kubernetes and node images that are behind: a cluster without upgrade channels warns no user.

Sources: Azure/AgentBaker 06836ee (2026-08-21), parts/common/components.json: the two newest patches of each minor
version that node images bring; MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), long-term-support.md (LTS supports
the two newest patches), support-policies.md (no node image older than 90 days), security-bulletins/overview.md.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from aks_infiniband.facts.kubernetes import Minor, minor_of

PATCHES_AS_OF: Final = date(2026, 8, 21)
NEWEST_PATCHES: Final[dict[Minor, tuple[int, int]]] = {
    (1, 30): (100, 101),
    (1, 31): (13, 14),
    (1, 32): (11, 12),
    (1, 33): (11, 13),
    (1, 34): (9, 10),
    (1, 35): (6, 7),
    (1, 36): (2, 3),
}
"""The two newest patches of a minor version on that day; there may be newer ones."""
IMAGE_SUPPORT: Final = timedelta(days=90)
"""An older node image is not supported."""
_LINUX: Final = re.compile(r"AKS(?:Ubuntu|AzureLinux).*-(\d{4})(\d{2})\.(\d{2})\.(\d+)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Bulletin:
    """A security bulletin of AKS that a newer node image answers."""

    name: str
    about: str
    image: tuple[int, int, int, int]
    """The first release that has the remedy: year, month, day and number."""


BULLETINS: Final = (
    Bulletin(name="AKS-2026-0003", about="CVE-2026-31431, from any pod to root of the node", image=(2026, 4, 13, 0)),
    Bulletin(name="AKS-2025-0012", about="three ways out of a container through runc", image=(2025, 11, 7, 0)),
)


def image_behind(version: str, on: date) -> list[str]:
    """Problems of a node image on a day; empty if there are none, or if it is not a Linux image of AKS.

    version: such as AKSUbuntu-2404gen2containerd-202610.27.0.
    """
    match = _LINUX.match(version)
    if not match:
        return []
    year, month, day, number = map(int, match.groups())
    told = [f"{each.name} ({each.about})" for each in BULLETINS if (year, month, day, number) < each.image]
    age = on - date(year, month, day)
    if age > IMAGE_SUPPORT:
        told.append(f"it is {age.days} days old, and AKS supports none older than {IMAGE_SUPPORT.days}")
    return told


def newer_than(version: str, offered: Iterable[str] = ()) -> list[str]:
    """The newer patches of a version's minor one, the newest first.

    version: such as 1.35.6. offered: the versions of a region, minor versions too; if it names no patch, those known
    count.
    """
    minor, patch = minor_of(version), _patch(version)
    known = {_patch(each) for each in offered if each.count(".") == 2 and minor_of(each) == minor}
    numbers = known or set(NEWEST_PATCHES.get(minor, ()))
    return [f"{minor[0]}.{minor[1]}.{number}" for number in sorted(numbers, reverse=True) if number > patch]


def _patch(version: str) -> int:
    return int(version.split(".")[2])
