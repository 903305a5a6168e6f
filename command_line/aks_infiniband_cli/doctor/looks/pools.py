"""How many machines a pool should have, and what keeps pods off some of them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.view import Finding, Object, labelled, name_of
from aks_infiniband.resources.metadata import PART_OF
from aks_infiniband.validation.reports import report_in

from aks_infiniband_cli.doctor.looks.operands import POOL_LABEL, SIZE_LABEL, pools
from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

_UPGRADES: Final = {
    "nvidia.com/ofed-driver-upgrade-state": "OFED",
    "nvidia.com/gpu-driver-upgrade-state": "GPU",
}
_AT_REST: Final = ("", "unknown", "upgrade-done", "upgrade-failed")
"""States of a node without an upgrade of its driver under way (k8s-operator-libs 11e747a, pkg/upgrade/consts.go)."""
_NOBODYS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "kubernetes.azure.com/")
"""How the keys of taints begin that Kubernetes and AKS set themselves; other symptoms tell what they mean."""
_AUTOSCALERS: Final = "ClusterAutoscaler"


def machines(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools that have fewer machines than when they were measured last."""
    reports = [report for report in map(report_in, _reports(snapshot)) if report]
    measured = {name for report in reports for name in report.get("nodes") or {}}
    there = {name_of(node): node for node in snapshot.view.nodes}
    for report in reports:
        pool, own = str(report.get("pool")), set(report.get("nodes") or {})
        joined = [name for name, node in there.items() if name not in measured and _could_be(node, report)]
        wanted, present = expected_nodes(report), len(own & there.keys()) + len(joined)
        if present < wanted:
            gone = ", ".join(sorted(own - there.keys())) or "one that was never measured"
            what = f"pool {pool} has {present} of {wanted} nodes; gone: {gone}"
            command = f"kubectl get nodes -l {POOL_LABEL}={pool}"
            yield Finding(symptom="pool-short", about=f"pool {pool}", what=what, command=command)


def _reports(snapshot: Snapshot) -> list[Object]:
    own = [item for item in snapshot.view.config_maps if item["metadata"].get("namespace") == snapshot.validations_in]
    return labelled(own, PART_OF)


def expected_nodes(report: Mapping[str, Any]) -> int:
    """How many nodes the pool of a report should have."""
    coverage = (report.get("coverage") or {}).get("nodes") or {}
    return max(int(coverage.get("expected") or 0), len(report.get("nodes") or {}))


def _could_be(node: Object, report: Mapping[str, Any]) -> bool:
    """Whether a node may be of the pool of a report, in the place of one that was measured."""
    labels = labels_of(node)
    return labels.get(SIZE_LABEL) == report.get("vm_size") and labels.get(POOL_LABEL) in (None, report.get("pool"))


def upgrades(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes on which an operator changes a driver now."""
    for node in snapshot.view.nodes:
        for label, driver in _UPGRADES.items():
            state = labels_of(node).get(label, "")
            if state not in _AT_REST:
                what = f"node {name_of(node)} has the label {label}={state}"
                command = f"kubectl get nodes -L {label}"
                about = f"node {name_of(node)}"
                symptom = f"{driver.lower()}-upgrade-under-way"
                yield Finding(symptom=symptom, about=about, what=what, command=command)


def taints(snapshot: Snapshot) -> Iterator[Finding]:
    """Taints that only some nodes of a pool have: somebody has put them there, and may have forgotten them."""
    for nodes in pools(snapshot.view).values():
        common = set.intersection(*(_keys(node) for node in nodes))
        for node in nodes:
            for taint in _taints(node):
                if taint["key"] not in common:
                    told = f"{taint['key']}{_value(taint)}:{taint['effect']}"
                    what = f"node {name_of(node)} has the taint {told}, which others of its pool have not"
                    command = f"kubectl taint node {name_of(node)} {taint['key']}:{taint['effect']}-"
                    about = f"node {name_of(node)}"
                    yield Finding(symptom="node-tainted", about=about, what=what, command=command)


def _value(taint: Mapping[str, Any]) -> str:
    return f"={taint['value']}" if taint.get("value") else ""


def _keys(node: Object) -> set[str]:
    return {taint["key"] for taint in _taints(node)}


def _taints(node: Object) -> list[Mapping[str, Any]]:
    return [
        taint
        for taint in (node.get("spec") or {}).get("taints") or []
        if taint["effect"] != "PreferNoSchedule"
        and not taint["key"].startswith(_NOBODYS)
        and _AUTOSCALERS not in taint["key"]
    ]
