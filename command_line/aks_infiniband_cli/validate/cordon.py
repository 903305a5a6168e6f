"""Nodes that fail are cordoned when that is asked for, and only those are uncordoned again."""

from collections.abc import Iterable
from typing import Final

from aks_infiniband.validation.reports import Report
from lightkube import Client
from lightkube.resources.core_v1 import Node

from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

MARK: Final = "aks-infiniband/cordoned-by-validate"
"""Annotation of a node that this command has cordoned; its value says why."""


def failing(report: Report) -> dict[str, str]:
    """The nodes that fail a check, and which ones."""
    found: dict[str, list[str]] = {}
    for check in report["checks"]:
        node = check["node"]
        if node and check["verdict"] == "fail":
            found.setdefault(node, []).append(check["check"])
    return {node: ", ".join(dict.fromkeys(checks)) for node, checks in found.items()}


def cordon(client: Client, node: str, why: str) -> None:
    """Have nothing new scheduled on a node, and note why."""
    client.patch(Node, node, {"metadata": {"annotations": {MARK: why}}, "spec": {"unschedulable": True}})


def marked(nodes: Iterable[Object]) -> dict[str, str]:
    """The nodes that this command has cordoned, and why."""
    found = {name_of(node): (node["metadata"].get("annotations") or {}).get(MARK) for node in nodes}
    return {node: why for node, why in found.items() if why is not None}


def uncordon(client: Client, node: str) -> None:
    """Take a cordon back."""
    client.patch(Node, node, {"metadata": {"annotations": {MARK: None}}, "spec": {"unschedulable": None}})
