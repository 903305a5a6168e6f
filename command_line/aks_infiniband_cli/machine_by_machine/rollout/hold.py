"""Nodes that keep their driver while one has got another: the label with which NVIDIA's operators pass a node over."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from aks_infiniband.facts.driver_upgrades import REQUIRED
from lightkube import Client
from lightkube.resources.core_v1 import Node

from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS, Driver
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

MARK: Final = "aks-infiniband/held-by-rollout"
"""Annotation of a node that this command holds back, so that it releases no other: the driver, the first node, and
the operator's namespace."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A node that this command holds back."""

    node: Object
    driver: Driver
    first: str
    """The node that the driver was tried on."""
    namespace: str | None
    """The operator's namespace; None if an older release has not noted it."""


def labels_of(node: Object) -> dict[str, str]:
    """The labels of a node."""
    return dict(node["metadata"].get("labels") or {})


def is_passed_over(node: Object, driver: Driver) -> bool:
    """True if the operator is set to pass the node over."""
    return labels_of(node).get(driver.skip) == "true"


def held(nodes: Iterable[Object]) -> list[Held]:
    """The nodes that this command holds back."""
    marked = list[Held]()
    for node in nodes:
        driver, *named = str((node["metadata"].get("annotations") or {}).get(MARK, "")).split(" ")
        if named and driver in DRIVERS:
            first, namespace = (*named, None)[:2]
            marked.append(Held(node=node, driver=DRIVERS[driver], first=str(first), namespace=namespace))
    return marked


def hold(client: Client, node: Object, driver: Driver, first: str, namespace: str) -> None:
    """Hold back a node that others do not hold. namespace: the operator's."""
    change = {"labels": {driver.skip: "true"}, "annotations": {MARK: f"{driver.name} {first} {namespace}"}}
    client.patch(Node, name_of(node), {"metadata": change})


def release(client: Client, held: Held) -> None:
    """Let a node have the driver that its operator has for it.

    The operator checks again if a node that waits for an upgrade needs it: if the version went back, the node has the
    driver already, and would be drained for nothing. The change also wakes the GPU Operator, which looks at a node's
    state and not at this label, and else every two minutes (26.3.3, controllers/upgrade_controller.go).
    """
    state = held.driver.state
    waits = {state: None} if labels_of(held.node).get(state) == REQUIRED else {}
    change = {"labels": {held.driver.skip: None, **waits}, "annotations": {MARK: None}}
    client.patch(Node, name_of(held.node), {"metadata": change})
