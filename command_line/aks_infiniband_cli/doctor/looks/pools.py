"""The expected number of a pool's machines, and the taints that keep pods off some of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.holds import holder_of
from aks_infiniband.diagnosis.view import Finding, Object, in_namespace, name_of
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL, SIZE_LABEL
from aks_infiniband.facts.driver_upgrades import AT_REST, GPU, NIC, state_label
from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.validation.kept import REPLACED, document_in
from aks_infiniband.validation.membership import memberships

from aks_infiniband_cli.doctor.looks.operands import NO_POOL, pools
from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

_UNDER_WAY: Final = {NIC: "ofed-upgrade-under-way", GPU: "gpu-upgrade-under-way"}
"""Symptom, by driver."""
_NOBODYS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "kubernetes.azure.com/")
"""Prefixes of the keys of taints that Kubernetes and AKS set themselves; other symptoms explain their meaning."""
_AUTOSCALERS: Final = "ClusterAutoscaler"


def machines(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools that have fewer machines than the stack says."""
    own = snapshot.validations_in
    jobs, reports = in_namespace(snapshot.view.jobs, own), in_namespace(snapshot.view.config_maps, own)
    for pool in memberships(jobs, reports, snapshot.view.nodes).values():
        if told := pool.told():
            about, what = f"pool {pool.pool}", f"pool {pool.pool}: {told}"
            if case := _without_successor(reports, pool.pool):
                yield _given_up(case, about, what)
                continue
            command = "kubectl get nodes -L " + ",".join((AGENT_POOL_LABEL, SIZE_LABEL))
            yield Finding(symptom="pool-short", about=about, what=what, command=command)


def _without_successor(config_maps: Iterable[Object], pool: str) -> Mapping[str, Any] | None:
    """The case of `replace` that has given up a machine of a pool and got no other one yet."""
    for config_map in config_maps:
        if config_map["metadata"]["name"] == REPLACED.name:
            try:
                cases = (document_in(REPLACED, config_map) or {}).get("cases")
            except HandwrittenError:  # `replace` reports it
                continue
            open_ = [case for case in cases if _waits(case, pool)] if isinstance(cases, list) else []
            return next(iter(open_), None)
    return None


def _waits(case: Any, pool: str) -> bool:
    return (
        isinstance(case, dict) and (case.get("pool"), case.get("stage")) == (pool, "refill") and bool(case.get("node"))
    )


def _given_up(case: Mapping[str, Any], about: str, what: str) -> Finding:
    node, lines = case["node"], [line.get("what") for line in case.get("lines") or () if isinstance(line, dict)]
    cause = f"replace has given up {node} and waits for another machine" + (f": {lines[-1]}" if lines else "")
    command = f"aks-infiniband replace {node}"
    fix = "once Azure has a machine for the pool, run the command again: it continues"
    return Finding(symptom="pool-short", about=about, what=what, cause=cause, fix=fix, command=command)


def upgrades(snapshot: Snapshot) -> Iterator[Finding]:
    """Nodes on which an operator changes a driver now."""
    for node in snapshot.view.nodes:
        for driver, symptom in _UNDER_WAY.items():
            label = state_label(driver)
            state = labels_of(node).get(label, "")
            if state not in AT_REST:
                what = f"node {name_of(node)} has the label {label}={state}"
                command = f"kubectl get nodes -L {label}"
                about = f"node {name_of(node)}"
                yield Finding(symptom=symptom, about=about, what=what, command=command)


def taints(snapshot: Snapshot) -> Iterator[Finding]:
    """Taints that only some nodes of a pool have. A person has put them there, and may have forgotten them."""
    for name, nodes in pools(snapshot.view).items():
        if name == NO_POOL:  # of pools that cannot be distinguished
            continue
        common = set.intersection(*(_keys(node) for node in nodes))
        for node in nodes:
            for taint in _taints(node):
                if taint["key"] not in common:
                    told = f"{taint['key']}{_value(taint)}:{taint['effect']}"
                    what = f"node {name_of(node)} has the taint {told}, which others of its pool have not"
                    yield _tainted(node, taint, what)


def _tainted(node: Object, taint: Mapping[str, Any], what: str) -> Finding:
    """A taint is only to be taken away if its key does not name a program that has put it there."""
    about, holder = f"node {name_of(node)}", holder_of(taint, node)
    if holder:
        cause = f"{holder.author} has put it there: {holder.meaning}"
        return Finding(symptom="node-tainted", about=about, what=what, cause=cause, fix=holder.next)
    command = f"kubectl taint node {name_of(node)} {taint['key']}:{taint['effect']}-"
    return Finding(symptom="node-tainted", about=about, what=what, command=command)


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
