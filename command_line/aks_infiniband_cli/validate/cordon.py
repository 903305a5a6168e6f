"""Nodes that fail are cordoned if the user requests it, and only those are uncordoned again."""

from collections.abc import Iterable
from typing import Final

from aks_infiniband.diagnosis.holds import CORDONED_BY_VALIDATE
from aks_infiniband.validation.machines import CORDONED, LET_IN, measurements_in
from aks_infiniband.validation.reports import Report
from lightkube import Client
from lightkube.resources.core_v1 import Node

from aks_infiniband_cli.validate import records
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

BY: Final = "validate --cordon"


def failing(report: Report) -> dict[str, str]:
    """The nodes that fail a check, and in words which ones, with what was measured."""
    measured = measurements_in(report, BY)
    return {
        node: "; ".join(dict.fromkeys(problem.told() for problem in result.failed))
        for node, result in measured.items()
        if result.failed
    }


def cordon(client: Client, node: Object, why: str, namespace: str | None) -> None:
    """Have nothing new scheduled on a node, and note why: on it, in its condition, and in the record of the machines.

    namespace: of a stack's validations, with the record; without one the note on the node is all. Raises NO_ANSWER.
    """
    patch = {"metadata": {"annotations": {CORDONED_BY_VALIDATE: why}}, "spec": {"unschedulable": True}}
    client.patch(Node, name_of(node), patch)
    if namespace is not None:
        records.keep_decision(client, namespace, name_of(node), CORDONED, by=BY, why=why)
        records.set_condition(client, node, healthy=False, why=why)


def marked(nodes: Iterable[Object]) -> dict[str, str]:
    """The nodes that this command has cordoned, and why."""
    reasons = {name_of(node): (node["metadata"].get("annotations") or {}).get(CORDONED_BY_VALIDATE) for node in nodes}
    return {node: why for node, why in reasons.items() if why is not None}


def uncordon(client: Client, node: Object, namespace: str | None) -> None:
    """Take a cordon back, and what was noted with it. namespace: as of cordon. Raises NO_ANSWER."""
    mark = {"annotations": {CORDONED_BY_VALIDATE: None}}
    client.patch(Node, name_of(node), {"metadata": mark, "spec": {"unschedulable": None}})
    if namespace is not None:
        records.keep_decision(client, namespace, name_of(node), LET_IN, by="validate --uncordon", why="")
        records.set_condition(
            client, node, healthy=None, why="uncordoned by validate --uncordon, and not measured since"
        )
