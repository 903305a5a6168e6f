"""The kinds of cases, and the outcome of a case of each."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.diagnose import diagnose, render
from aks_infiniband.diagnosis.holds import condition_findings, cordoned, holds_of
from aks_infiniband.diagnosis.ownership import owner_of
from aks_infiniband.diagnosis.pods import pod_findings
from aks_infiniband.diagnosis.view import Finding, View, Wait

from tests.cases import Case, patched
from tests.unit.diagnosis.views import POOL, bare, daemon_set, job, node, pod, policy

BARE: Final = "bare"
"""Stands for a node without resources and without labels of feature discovery."""
_NAMES: Final = {
    "job": ("validate-1", "aks-infiniband"),
    "nic-cluster-policy": ("nic-cluster-policy", ""),
    "cluster-policy": ("cluster-policy", ""),
    "nic-node-policy": ("ndh100", ""),
    "ipoib-network": ("aks-infiniband", ""),
    "ip-pool": ("aks-infiniband", "network-operator"),
    "daemon-set": ("node-preparation", "aks-infiniband"),
    "release": ("network-operator", "network-operator"),
    "namespace": ("network-operator", ""),
}
"""Name and namespace of what is waited for."""


def outcome_of_wait(case: Case) -> str:
    """A wait that failed in a cluster of two healthy nodes. `nodes`, `pods`, `daemon_sets` and `policies` have the
    differences from usual ones by name, `jobs` and `pools` those from the validation's Job and from its pool; other
    objects are whole.
    """
    waiting_for = case.get("waiting_for", "job")
    name, namespace = _NAMES[waiting_for]
    wait = Wait(waiting_for=waiting_for, **{"name": name, "namespace": namespace, **case.get("wait", {})})
    view = View(
        nodes=[_node(name, change) for name, change in case.get("nodes", {"n0": {}, "n1": {}}).items()],
        pods=_named(case, "pods", pod),
        daemon_sets=_named(case, "daemon_sets", daemon_set),
        policies=[patched(policy(kind), change) for kind, change in _items(case.get("policies", {}))],
        jobs=[patched(job(), change) for change in case.get("jobs", [{}] if waiting_for == "job" else [])],
        **case.get("view", {}),
    )
    pools = [POOL.changed(**change) for change in case.get("pools", [{}])]
    return render(wait, diagnose(wait, view, pools), view.unread)


def _node(name: str, change: Any) -> Any:
    return bare(name) if change == BARE else patched(node(name), change)


def _named(case: Case, kind: str, usual: Callable[[str, str], Any]) -> list[Any]:
    """Objects by namespace/name."""
    names = ((name.partition("/"), change) for name, change in case.get(kind, {}).items())
    return [patched(usual(name, namespace), change) for (namespace, _, name), change in names]


def _items(changes: Any) -> list[tuple[str, Any]]:
    """Pairs of a mapping; the same key twice is a list of mappings."""
    return [pair for each in (changes if isinstance(changes, list) else [changes]) for pair in each.items()]


def outcome_of_node(case: Case) -> dict[str, Any]:
    """A node that differs from a sound one: what is said of its cordon and its conditions, and who holds it."""
    usual = {
        "metadata": {"name": "n1"},
        "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }
    there = patched(usual, {key: value for key, value in case.items() if key != "conditions"})
    there["status"]["conditions"] += case.get("conditions", [])
    cordon = cordoned(there)
    found = {
        "cordon": _shown(cordon) if cordon else None,
        "conditions": [_shown(each) for each in condition_findings(there)],
        "held by": [hold.author for hold in holds_of(there)],
        "cordoned by": [hold.author for hold in holds_of(there) if hold.cordons],
    }
    return {key: value for key, value in found.items() if value}


def _shown(finding: Finding) -> str:
    """A finding as a person reads it, without the marks of a list."""
    return "\n".join(finding.lines()).replace("\n    ", "\n").removeprefix("  - ")


def outcome_of_words(case: Case) -> str:
    """The symptom of a container that crashes, or of which its kubelet says why it waits."""
    ended = {"exitCode": 1, "reason": "Error"}
    waiting = {"reason": case.get("reason", "CrashLoopBackOff"), "message": case.get("waiting", "back-off")}
    status = {"name": "main", "ready": False, "state": {"waiting": waiting}, "lastState": {"terminated": ended}}
    crashing = {
        "metadata": {"name": "p", "namespace": case["namespace"]},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "x"}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }
    logs = {f"{case['namespace']}/p": case["log"]} if "log" in case else {}
    (finding,) = pod_findings([crashing], View(pods=[crashing], logs=logs))
    assert case.get("log", "") in finding.what, "the log is shown, whatever it means"
    return finding.symptom


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "waits": outcome_of_wait,
    "node": outcome_of_node,
    "words": outcome_of_words,
    "owner": owner_of,
}
"""By the first word of a file's name, what gives the outcome of a case."""
