"""A pod's facts on its node, at the path from which index 0 reads them, and the wait for the facts of all nodes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from ..programs import install as tools
from ..say.expectations import Expectations
from ..talk.api import ApiError, Object
from .counters import Counters, read_counters
from .identity import UNKNOWN, Identity, identity_of
from .kernel import NodeFacts, Roots, read_node, read_versions
from .nvlink import Nvlink, read_nvlink
from .placement import Placement, read_placement
from .verbs import Libibverbs, ask_libibverbs

PROGRAMS = ("ibv_devinfo", "ibv_rc_pingpong", "ib_read_lat", "ib_write_bw", "ib_read_bw")
"""The programs that measure RDMA. sockperf is for IPoIB alone."""


class Facts(NodeFacts):
    """Everything that a pod says of its node."""

    placement: Placement
    nvlink: Nvlink | None
    """None if NVLink ends at the machine."""

    tools: Mapping[str, object]
    verbs: Libibverbs
    identity: Identity
    """Unknown if the Node object cannot be read."""
    memlock_bytes_non_root: int | None
    counters: Counters
    versions: dict[str, str]


FactsByNode = Mapping[str, Facts]


def facts_of(
    arguments: argparse.Namespace,
    expected: Expectations,
    environment: Mapping[str, str],
    node: Callable[[], Object],
) -> Facts:
    """The facts of a node. ``node`` gives its object in the cluster, and may raise ApiError."""
    accelerators = expected["accelerators"]
    roots = Roots(arguments.sys, arguments.dev, arguments.proc, arguments.shm, arguments.attachments)
    seen = read_node(roots, environment, accelerators["device_pattern"] if accelerators else None)
    programs = [*PROGRAMS, *(["sockperf"] if expected["interfaces"] else [])]
    installed = tools.ensure(programs, arguments.measure_seconds / 2)
    if installed.error:
        print(installed.error, flush=True)
    document = _document(node)
    versions = tools.versions(program for program in programs if program not in installed.missing)
    return {
        **seen,
        "placement": read_placement(arguments.metadata),
        "nvlink": read_nvlink() if expected["nvlink"] else None,
        "tools": installed._asdict(),
        "verbs": ask_libibverbs(installed),
        "identity": identity_of(document) if document else UNKNOWN,
        "memlock_bytes_non_root": _limit(arguments.limits),
        "counters": read_counters(arguments.counters),
        "versions": {**read_versions(roots), **_node_versions(document), **versions},
    }


def _limit(file: Path | None) -> int | None:
    """The limit that the pod's init container found, which does not run as root; None if it left nothing."""
    try:
        limit: int | None = json.loads(file.read_text(encoding="utf-8"))["memlock_bytes"] if file else None
    except (OSError, ValueError, KeyError):
        return None
    return limit


def _document(node: Callable[[], Object]) -> Object:
    """The Node object; empty if it cannot be read."""
    try:
        return node()
    except ApiError as error:
        print(error, flush=True)
        return {}


def _node_versions(document: Object) -> dict[str, str]:
    """The image and the programs of a node by its object."""
    info = document.get("status", {}).get("nodeInfo", {})
    names = {"osImage": "OS", "kubeletVersion": "kubelet", "containerRuntimeVersion": "container runtime"}
    versions = {shown: str(info[name]) for name, shown in names.items() if info.get(name)}
    image = document.get("metadata", {}).get("labels", {}).get("kubernetes.azure.com/node-image-version")
    return {**versions, **({"node image": image} if image else {})}
