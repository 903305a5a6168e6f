"""Findings about nodes that AKS repairs by itself: rebooted, reimaged or redeployed, because they were NotReady.

Source of reasons and order: MicrosoftDocs/azure-aks-docs fb060ab, node-auto-repair.md (2026-07-01).
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from aks_infiniband.diagnosis.ownership import operators_pods, owner_of, trusted_namespaces
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    condition,
    container_statuses,
    is_about,
    labelled,
    name_of,
    seen,
    shown_by,
)

SOURCE: Final = "aks-auto-repair"
"""The source of the events."""
OFED_WAIT: Final = "network.nvidia.com/operator.mofed.wait"
"""The node label by which the Network Operator lets pods wait for the OFED driver."""
_STEP: Final = re.compile(r"Node(Reboot|Reimage|Redeploy)(Start|End|Error)$")
_DONE: Final = {"Reboot": "rebooted", "Reimage": "reimaged", "Redeploy": "redeployed"}
_REPAIRED: Final = (
    "AKS reboots, then reimages, then redeploys a node that was NotReady for five minutes, as one is whose driver or "
    "kubelet takes long to restart; it may take an hour, and the operators install their drivers again"
)
_GAVE_UP: Final = "AKS could not carry out a step of its repair of a node that was NotReady for five minutes"
_DRIVERS: Final = ("nvidia.com/ofed-driver", "app.kubernetes.io/component")
"""Labels of the operators' driver pods; the second one's value says which."""


def repair_findings(view: View) -> Iterator[Finding]:
    """Nodes that AKS repairs now, could not repair, or has repaired and whose drivers are not back yet."""
    operators = trusted_namespaces(view)
    for node in view.nodes:
        last = _last_step(view, node)
        if last is None:
            continue
        event, step, phase = last
        what = f": {event['reason']} at {seen(event)}: {event.get('message')}"
        if phase == "Start":
            yield shown_by("node", node, "node-under-repair", what, cause=_REPAIRED)
        elif phase == "Error":
            yield shown_by("node", node, "node-repair-failed", what, cause=_GAVE_UP)
        elif condition(node, "Ready").get("status") != "True":
            told = f" was {_DONE[step]} at {seen(event)} and is not Ready; AKS continues with its next step"
            yield shown_by("node", node, "node-under-repair", told, cause=_REPAIRED)
        elif unready := [pod for pod in driver_pods(view.pods, node, operators) if not serves(pod)]:
            names = ", ".join(map(name_of, unready))
            told = f" was {_DONE[step]} at {seen(event)}, and its drivers are not back: {names}"
            yield shown_by("node", node, "node-was-repaired", told, cause=_REPAIRED)


def stale_wait_findings(view: View) -> Iterator[Finding]:
    """Nodes whose label says that the OFED driver is ready although its container there is not."""
    for node in labelled(view.nodes, {OFED_WAIT: "false"}):
        drivers = ofed_pods(view.pods, node, trusted_namespaces(view))
        unready = [pod for pod in drivers if not serves(pod)]
        if unready and not any(map(serves, drivers)):
            told = f" has the label {OFED_WAIT}=false, and pod {name_of(unready[0])} is not ready"
            yield shown_by("node", node, "ofed-wait-stale", told, command=f"kubectl get nodes -L {OFED_WAIT}")


def ofed_pods(pods: Sequence[Object], node: Object, operators: Collection[str]) -> list[Object]:
    """The pods of the OFED driver on a node. operators: their namespaces."""
    here = [pod for pod in pods if pod["spec"].get("nodeName") == name_of(node)]
    return [pod for pod in operators_pods(here, operators) if _DRIVERS[0] in (pod["metadata"].get("labels") or {})]


def driver_pods(pods: Sequence[Object], node: Object, operators: Collection[str]) -> list[Object]:
    """The pods of both operators' drivers on a node. operators: their namespaces."""
    here = [pod for pod in pods if pod["spec"].get("nodeName") == name_of(node)]
    gpus = labelled(operators_pods(here, operators), {_DRIVERS[1]: "nvidia-driver"})
    return [*ofed_pods(pods, node, operators), *gpus]


def serves(pod: Object) -> bool:
    """True if its containers are ready; the condition Ready is the node lifecycle controller's too."""
    pending = [status for status in container_statuses(pod) if "completed" not in _ended(status)]
    return bool(pending) and all(status.get("ready") for status in pending)


def _ended(status: Object) -> str:
    return str(((status.get("state") or {}).get("terminated") or {}).get("reason") or "").lower()


def _last_step(view: View, node: Object) -> tuple[Object, str, str] | None:
    """The newest event of a repair of a node, the step, and whether it began, ended or failed."""
    said: Sequence[Object] = [event for event in view.events if _STEP.match(str(event.get("reason")))]
    about = [event for event in said if is_about(event, "Node", node) and owner_of(event) == "AKS"]
    if not about:
        return None
    newest = max(about, key=lambda event: (seen(event), not str(event["reason"]).endswith("Start")))
    match = _STEP.match(str(newest["reason"]))
    assert match is not None
    return newest, match[1], match[2]
