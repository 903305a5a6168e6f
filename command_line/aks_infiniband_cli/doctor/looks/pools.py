"""How many machines a pool should have, and what keeps pods off some of them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.holds import holder_of
from aks_infiniband.diagnosis.view import Finding, Object, in_namespace, name_of
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL, SIZE_LABEL
from aks_infiniband.facts.driver_upgrades import AT_REST, GPU, NIC, state_label
from aks_infiniband.validation.membership import memberships

from aks_infiniband_cli.doctor.looks.operands import NO_POOL, pools
from aks_infiniband_cli.doctor.snapshot import Snapshot, labels_of

_UNDER_WAY: Final = {NIC: "ofed-upgrade-under-way", GPU: "gpu-upgrade-under-way"}
"""Symptom, by driver."""
_NOBODYS: Final = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "kubernetes.azure.com/")
"""How the keys of taints begin that Kubernetes and AKS set themselves; other symptoms tell what they mean."""
_AUTOSCALERS: Final = "ClusterAutoscaler"


def machines(snapshot: Snapshot) -> Iterator[Finding]:
    """Pools that have fewer machines than the stack says."""
    own = snapshot.validations_in
    jobs, reports = in_namespace(snapshot.view.jobs, own), in_namespace(snapshot.view.config_maps, own)
    for pool in memberships(jobs, reports, snapshot.view.nodes).values():
        if told := pool.told():
            command = "kubectl get nodes -L " + ",".join((AGENT_POOL_LABEL, SIZE_LABEL))
            yield Finding(
                symptom="pool-short", about=f"pool {pool.pool}", what=f"pool {pool.pool}: {told}", command=command
            )


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
    """Taints that only some nodes of a pool have. Somebody has put them there, and may have forgotten them."""
    for name, nodes in pools(snapshot.view).items():
        if name == NO_POOL:  # of pools that nobody can tell apart
            continue
        common = set.intersection(*(_keys(node) for node in nodes))
        for node in nodes:
            for taint in _taints(node):
                if taint["key"] not in common:
                    told = f"{taint['key']}{_value(taint)}:{taint['effect']}"
                    what = f"node {name_of(node)} has the taint {told}, which others of its pool have not"
                    yield _tainted(node, taint, what)


def _tainted(node: Object, taint: Mapping[str, Any], what: str) -> Finding:
    """A taint is only to be taken away where its key does not tell of a program that has put it there."""
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
