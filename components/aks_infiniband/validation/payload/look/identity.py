"""The identity of a node's machine: which VM it is, on which boot, and with which image, kernel and GPU driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, cast

_IMAGE_LABEL = "kubernetes.azure.com/node-image-version"
_DRIVER_LABEL = "nvidia.com/cuda.driver-version.full"


Object = Mapping[str, Any]
"""A node, or a part of the record, as JSON."""


class Identity(TypedDict):
    """The identity of a node's machine: a redeployed one keeps its name, and a restarted one its VM."""

    vm: str
    boot: str
    image: str
    kernel: str
    driver: str


UNKNOWN: Identity = {"vm": "", "boot": "", "image": "", "kernel": "", "driver": ""}


def identity_of(node: Object) -> Identity:
    """The identity of the machine that a node is now."""
    info = (node.get("status") or {}).get("nodeInfo") or {}
    labels = node["metadata"].get("labels") or {}
    return {
        "vm": str(info.get("systemUUID", ""))[:100],
        "boot": str(info.get("bootID", ""))[:100],
        "image": str(labels.get(_IMAGE_LABEL, ""))[:200],
        "kernel": str(info.get("kernelVersion", ""))[:200],
        "driver": str(labels.get(_DRIVER_LABEL, ""))[:100],
    }


def identity_in(facts: Object) -> Identity:
    """The identity that a pod has reported with its facts; unknown if it did not, as with an older release."""
    identity = facts.get("identity")
    if (
        isinstance(identity, dict)
        and identity.keys() == UNKNOWN.keys()
        and all(isinstance(x, str) for x in identity.values())
    ):
        return cast("Identity", identity)
    return UNKNOWN
