"""A node on which nothing new is scheduled: cordoned and tainted, with the mark of the case that did it.

A cordon alone is removed by every program that uncordons: NVIDIA's upgrade of drivers does, and AKS's upgrade of a
node. A taint stays. But it keeps the operators' DaemonSets away, whose pods leave a node that has started again and
come back when its drivers are there. So from the restart on a node is cordoned alone. Pods on it continue to run.
"""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from aks_infiniband.facts.managed import AUTO_DRAIN
from lightkube import Client
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from aks_infiniband_cli.cluster import refusal_allowed
from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

MARK: Final = "aks-infiniband/replaced-by"
"""Annotation of a node in quarantine: the case's id. Only our own cordon is removed."""
TAINT: Final = "aks-infiniband/quarantine"
_CORDON: Final = "node.kubernetes.io/unschedulable"
TOLERATIONS: Final[Sequence[Mapping[str, str]]] = tuple(
    {"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in (TAINT, _CORDON, AUTO_DRAIN)
)
"""Tolerations of a pod that measures a node in quarantine. AKS may have drained it for the redeployment that was
requested.
"""


def is_in_quarantine(node: Object) -> bool:
    """True if a case has taken the node out."""
    return MARK in (node["metadata"].get("annotations") or {})


def unknown_cases(nodes: Iterable[Object], cases: Iterable[Case]) -> list[str]:
    """The nodes that cases have taken out that the history does not know."""
    known = {case.id for case in cases}
    marks = {name_of(node): (node["metadata"].get("annotations") or {}).get(MARK) for node in nodes}
    return [name for name, mark in marks.items() if mark is not None and mark not in known]


def how_held(node: Object) -> tuple[bool, bool]:
    """True if a node is cordoned, and True if it has the taint."""
    spec = node.get("spec") or {}
    return bool(spec.get("unschedulable")), any(taint.get("key") == TAINT for taint in spec.get("taints") or [])


def quarantine(client: Client, name: str, case: str, *, tainted: bool) -> None:
    """Take a node out. tainted: in addition to the cordon."""

    def change(taints: list[Any]) -> dict[str, Any]:
        ours = {"key": TAINT, "value": case, "effect": "NoSchedule"}
        kept = [taint for taint in taints if taint.get("key") != TAINT]
        return {"unschedulable": True, "taints": [*kept, ours] if tainted else kept}

    _patch(client, name, case, change)


def release(client: Client, name: str) -> None:
    """Let a node in again. Nothing happens if it is gone, or if no case has taken it out."""

    def change(taints: list[Any]) -> dict[str, Any]:
        return {"unschedulable": None, "taints": [taint for taint in taints if taint.get("key") != TAINT] or None}

    with refusal_allowed(HTTPStatus.NOT_FOUND):
        if is_in_quarantine(client.get(Node, name).to_dict()):
            _patch(client, name, None, change)


def _patch(client: Client, name: str, mark: str | None, change: Any) -> None:
    """Taints are one list, so those of others are lost only if no other program writes in between."""
    while True:
        node = client.get(Node, name).to_dict()
        taints = list((node.get("spec") or {}).get("taints") or [])
        cordons = [taint for taint in taints if taint.get("key") == _CORDON]
        spec = change([taint for taint in taints if taint not in cordons])
        spec["taints"] = [*(spec["taints"] or []), *cordons] or None
        metadata = {"annotations": {MARK: mark}, "resourceVersion": node["metadata"]["resourceVersion"]}
        with refusal_allowed(HTTPStatus.CONFLICT):
            client.patch(Node, name, {"metadata": metadata, "spec": spec}, patch_type=PatchType.MERGE)
            return
