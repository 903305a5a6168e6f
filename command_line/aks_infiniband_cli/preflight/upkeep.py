"""Checks of a cluster that is there: parts that are behind, and parts that AKS manages as this program does. Pure
functions.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import date

from aks_infiniband.facts.patches import image_behind, newer_than

from aks_infiniband_cli.azure.answers import Deployed
from aks_infiniband_cli.preflight.checks import Line
from aks_infiniband_cli.preflight.needs import MachinesNeeded, Needs


def upkeep(machines: Sequence[MachinesNeeded], there: Deployed | None, on: date) -> Iterator[Line]:
    """Two checks of each pool of the stack: AKS does not manage it, and its node image is not behind. on: today."""
    if there is None:
        return
    behind: list[str] = []
    for needed in machines:
        pool = there.pools.get(needed.pool)
        if pool is None:
            continue
        for each in pool.managed:
            found = f"pool {needed.pool} has {each.name}, which owns {each.owns}"
            yield Line(check=f"managed by AKS in {needed.pool}", state="fail", found=found, remedy=each.instead)
        if told := image_behind(pool.image, on):
            behind.append(f"pool {needed.pool}, {pool.image}: {'; '.join(told)}")
    if behind:
        remedy = "run the command upgrade with --node-image: without a channel for images, AKS does not do it"
        yield Line(check="node images", state="pass", found="; ".join(behind), remedy=remedy)
    else:
        yield Line(check="node images", state="pass", found="nothing that is known is missing in them")


def patch(needs: Needs, offered: Iterable[str]) -> Iterator[Line]:
    """The distance of the cluster from the patches that the region offers of its minor version."""
    if needs.version_there is None:
        return
    newer = newer_than(needs.version_there, offered)
    found = f"the cluster runs {needs.version_there}"
    if not newer:
        yield Line(check="patch of Kubernetes", state="pass", found=f"{found}, the newest of its minor version")
        return
    mended = "" if len(newer) == 1 else "; with long-term support AKS fixes only the two newest"
    remedy = f"the command upgrade with --to {newer[0]}, which measures each machine before the next"
    yield Line(
        check="patch of Kubernetes", state="pass", found=f"{found}; newer are {', '.join(newer)}{mended}", remedy=remedy
    )
