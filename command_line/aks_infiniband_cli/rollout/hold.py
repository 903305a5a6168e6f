"""Nodes that keep their driver while one has got another: the label with which NVIDIA's operators pass a node over."""

from collections.abc import Iterable
from typing import Final

from lightkube import Client
from lightkube.resources.core_v1 import Node

from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of

SKIP: Final = "nvidia.com/ofed-driver-upgrade.skip"
STATE: Final = "nvidia.com/ofed-driver-upgrade-state"
"""Labels of a node (k8s-operator-libs, pkg/upgrade/consts.go, which the Network Operator 26.4.1 uses): whether it is
passed over, and how far its upgrade is."""
FAILED: Final = "upgrade-failed"
_REQUIRED: Final = "upgrade-required"
MARK: Final = "aks-infiniband/held-by-rollout"
"""Annotation of a node that this command holds back, so that it releases no other."""


def labels_of(node: Object) -> dict[str, str]:
    """The labels of a node."""
    return dict(node["metadata"].get("labels") or {})


def is_passed_over(node: Object) -> bool:
    """Whether somebody has the operator pass the node over."""
    return labels_of(node).get(SKIP) == "true"


def held(nodes: Iterable[Object]) -> list[Object]:
    """The nodes that this command holds back."""
    return [node for node in nodes if MARK in (node["metadata"].get("annotations") or {})]


def hold(client: Client, node: Object) -> None:
    """Hold a node back that nobody else does."""
    client.patch(Node, name_of(node), {"metadata": {"labels": {SKIP: "true"}, "annotations": {MARK: "true"}}})


def release(client: Client, node: Object) -> None:
    """Let a node have the driver of the policy.

    One that waits for an upgrade is asked anew whether it needs it: where the version went back, it has the driver
    already, and would be drained for nothing.
    """
    waits = {STATE: None} if labels_of(node).get(STATE) == _REQUIRED else {}
    client.patch(Node, name_of(node), {"metadata": {"labels": {SKIP: None, **waits}, "annotations": {MARK: None}}})
