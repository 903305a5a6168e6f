"""The expected number of a pool's nodes, and the missing ones: as its validation, which the stack has left, knows.

`aks-infiniband validate` and `aks-infiniband doctor` judge by the same function, so they cannot disagree.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.resources.metadata import DEPLOYERS, MANAGED_BY
from aks_infiniband.validation.payload.look.missing import missing_nodes
from aks_infiniband.validation.payload.report.document import Report
from aks_infiniband.validation.payload.report.kept import report_in
from aks_infiniband.validation.program import EXPECTATIONS_ANNOTATION

_POOL: Final = "app.kubernetes.io/instance"
Object = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Membership:
    """The nodes of one pool: those that it should have, and those that the cluster has."""

    pool: str
    expected: int
    """As the stack says; of an autoscaled pool its smallest number."""
    present: Sequence[str]
    """Names of the nodes that the cluster has, Ready or not."""
    missing: int = 0
    """The number of nodes that the pool lacks."""
    gone: Sequence[str] = ()
    """Names of nodes that the pool's last report had and the cluster no longer has. Empty if the pool has as many nodes
    as it should, because then others have taken their place.
    """
    reported: str = ""
    """When that report was made, in ISO 8601; empty without one."""

    def told(self) -> str | None:
        """The missing nodes, in words that follow the name of the pool; None if nothing is missing."""
        if not self.missing:
            return None
        lacks = f"{self.missing} of {self.expected} nodes missing"
        if not self.gone:
            return f"{lacks}; no report says which"
        were = "was" if len(self.gone) == 1 else "were"
        return f"{lacks}: {', '.join(self.gone)} {were} there when the pool was validated on {self.reported}"


def memberships(
    jobs: Iterable[Object], config_maps: Iterable[Object], nodes: Sequence[Object]
) -> dict[str, Membership]:
    """By pool, the nodes that it should have and those that it has. Pure: all arguments are what the API server says.

    The newest validation Job of the pool says how many nodes it should have (annotation
    aks-infiniband/expectations.json, key node_count). Its pods' selector says which nodes are the pool's. The pool's
    report says the names of those that are gone. A pool without such a Job (validation.mode off) is left out.

    jobs and config_maps are those of the validations' namespace, because every user may make them elsewhere. Objects of
    other programs are ignored. nodes are all nodes of the cluster.
    """
    reports = _newest_reports(config_maps)
    by_node = dict[str, Membership]()
    for job in sorted(jobs, key=lambda job: str(job["metadata"].get("creationTimestamp"))):
        template = job["spec"]["template"]
        told = ((template.get("metadata") or {}).get("annotations") or {}).get(EXPECTATIONS_ANNOTATION)
        pool = (job["metadata"].get("labels") or {}).get(_POOL)
        if told is None or pool is None or job["metadata"]["labels"].get(MANAGED_BY) not in DEPLOYERS:
            continue
        selector = template["spec"].get("nodeSelector") or {}
        count = int(json.loads(told)["node_count"])
        by_node[pool] = membership(pool, count, select(nodes, selector), reports.get(pool))
    return dict(sorted(by_node.items()))


def membership(pool: str, expected: int, present: Iterable[str], report: Mapping[str, Any] | None) -> Membership:
    """The nodes of one pool. present: names; report: its last one, None if there is none."""
    there, last = sorted(present), report or {}
    missing, gone = missing_nodes(expected, there, last.get("nodes") or ())
    reported = str(last.get("finished")) if gone else ""
    return Membership(pool=pool, expected=expected, present=there, missing=missing, gone=gone, reported=reported)


def select(nodes: Iterable[Object], selector: Mapping[str, str]) -> list[str]:
    """The names of the nodes that carry all labels of a selector."""
    return [
        str(node["metadata"]["name"])
        for node in nodes
        if selector.items() <= (node["metadata"].get("labels") or {}).items()
    ]


def _newest_reports(config_maps: Iterable[Object]) -> dict[str, Report]:
    """By pool, the newest report, whether the update made it or a later measurement."""
    reports = [report for report in map(report_in, config_maps) if report and {"pool", "finished"} <= report.keys()]
    return {report["pool"]: report for report in sorted(reports, key=lambda report: str(report["finished"]))}
