"""Minor versions of Kubernetes on AKS: until when each is supported, and what the OS SKU Ubuntu means in it.

Sources: MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21), supported-kubernetes-versions.md (the calendar; a month ends
with its last day) and upgrade-os-version.md. The contents of other OS SKUs are in `systems`; the names of the operators
in `releases`.
"""

from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

Minor = tuple[int, int]
SupportPlan = Literal["KubernetesOfficial", "AKSLongTermSupport"]
"""Azure's names: community support, or a year more of it, which needs the tier Premium."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """A minor version on AKS."""

    available: date
    """First day of the month of general availability."""
    end: date
    """Last day of community support."""
    long_term_end: date
    """Last day of long-term support."""

    def last_day(self, plan: SupportPlan) -> date:
        """Until when AKS makes clusters of it."""
        return self.long_term_end if plan == "AKSLongTermSupport" else self.end


RELEASES: Final[dict[Minor, Release]] = {
    (1, 31): Release(available=date(2024, 11, 1), end=date(2025, 11, 1), long_term_end=date(2026, 11, 30)),
    (1, 32): Release(available=date(2025, 4, 1), end=date(2026, 3, 31), long_term_end=date(2027, 3, 31)),
    (1, 33): Release(available=date(2025, 6, 1), end=date(2026, 7, 31), long_term_end=date(2027, 7, 31)),
    (1, 34): Release(available=date(2025, 11, 1), end=date(2026, 11, 30), long_term_end=date(2027, 11, 30)),
    (1, 35): Release(available=date(2026, 3, 1), end=date(2027, 3, 31), long_term_end=date(2028, 3, 31)),
    (1, 36): Release(available=date(2026, 6, 1), end=date(2027, 6, 30), long_term_end=date(2028, 6, 30)),
    (1, 37): Release(available=date(2026, 10, 1), end=date(2027, 10, 31), long_term_end=date(2028, 10, 31)),
}
"""By minor version; of a later one nothing is known yet."""

UBUNTU_IS_2404_SINCE: Final[Minor] = (1, 35)
"""From here on the OS SKU Ubuntu is 24.04 with containerd 2; before it is 22.04 with containerd 1.7. Raising a cluster
over it changes the system of its Ubuntu nodes in place."""


MOST_BEHIND: Final = 3
"""Minor versions by which a kubelet may be older than its control plane; newer it is never (Kubernetes, "Version Skew
Policy", read 2026-11-22; of AKS's pools MicrosoftDocs/azure-aks-docs fb060ab, upgrade-aks-control-plane.md)."""


def parts_of(version: str) -> tuple[int, ...]:
    """1.35 or 1.35.8 in comparable form."""
    return tuple(int(part) for part in version.split("."))


def minor_of(version: str) -> Minor:
    """The minor version of 1.35 or 1.35.8, as (1, 35)."""
    major, minor, *_ = version.split(".")
    return int(major), int(minor)


def supported(on: date, plan: SupportPlan) -> list[str]:
    """The versions that AKS makes clusters of on a day, the newest first."""
    minors = [key for key, release in RELEASES.items() if release.available <= on <= release.last_day(plan)]
    return [f"{major}.{minor}" for major, minor in sorted(minors, reverse=True)]
