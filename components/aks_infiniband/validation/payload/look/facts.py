"""Everything that a pod says of its node, where index 0 finds it, and the wait for what all nodes say."""

from __future__ import annotations

import argparse
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import TypedDict

from ..programs import install as tools
from ..say.expectations import Expectations
from ..talk.api import ApiError, Object, object_in
from ..talk.boards import FACTS
from .counters import Counters, read_counters
from .hcas import Libibverbs, ask_libibverbs
from .kernel import NodeFacts, Roots, read_node, read_versions

PROGRAMS = ("ibv_devinfo", "ibv_rc_pingpong", "ib_read_lat", "ib_write_bw", "ib_read_bw")
"""What measures RDMA; sockperf is for IPoIB alone."""


_METADATA_SECONDS = 2.0
"""How long the instance metadata service has for an answer: it is on the machine's own host."""


class Placement(TypedDict):
    """Where Azure has put a machine; without a group, said tells why it is not known."""

    group: str | None
    scale_set: str | None
    said: str | None


class Facts(NodeFacts):
    """Everything that a pod says of its node."""

    placement: Placement

    tools: Mapping[str, object]
    verbs: Libibverbs
    memlock_bytes_non_root: int | None
    counters: Counters
    versions: dict[str, str]


FactsByNode = Mapping[str, Facts]


def look(
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
    found = tools.ensure(programs, arguments.measure_seconds / 2)
    if found.error:
        print(found.error, flush=True)
    versions = tools.versions(program for program in programs if program not in found.missing)
    return {
        **seen,
        "placement": read_placement(arguments.metadata),
        "tools": found._asdict(),
        "verbs": ask_libibverbs(found),
        "memlock_bytes_non_root": _limit(arguments.limits),
        "counters": read_counters(arguments.counters),
        "versions": {**read_versions(roots), **_node_versions(node), **versions},
    }


def read_placement(url: str, timeout_seconds: float = _METADATA_SECONDS) -> Placement:
    """What the machine's metadata (`/metadata/instance/compute`) say; the service is asked without a proxy."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, headers={"Metadata": "true"})  # noqa: S310 the Job says which
    try:
        with opener.open(request, timeout=timeout_seconds) as response:
            found = json.loads(response.read())
        group, scale_set = str(found["placementGroupId"]) or None, str(found["vmScaleSetName"])
    except urllib.error.HTTPError as error:
        return {"group": None, "scale_set": None, "said": f"the metadata service answers {error.code} {error.reason}"}
    except (OSError, HTTPException, ValueError, KeyError, TypeError) as error:
        why = getattr(error, "reason", error)
        return {"group": None, "scale_set": None, "said": f"the metadata service does not answer ({why!s})"}
    return {"group": group, "scale_set": scale_set, "said": None if group else "the metadata name no placement group"}


def _limit(file: Path | None) -> int | None:
    """What the pod's init container, which does not run as root, has found of its limit; None where it left nothing."""
    try:
        found: int | None = json.loads(file.read_text(encoding="utf-8"))["memlock_bytes"] if file else None
    except (OSError, ValueError, KeyError):
        return None
    return found


def _node_versions(node: Callable[[], Object]) -> dict[str, str]:
    """What the Node object says of its image and programs; nothing where it cannot be read."""
    try:
        document = node()
    except ApiError as error:
        print(error, flush=True)
        return {}
    info = document.get("status", {}).get("nodeInfo", {})
    names = {"osImage": "OS", "kubeletVersion": "kubelet", "containerRuntimeVersion": "container runtime"}
    found = {shown: str(info[name]) for name, shown in names.items() if info.get(name)}
    image = document.get("metadata", {}).get("labels", {}).get("kubernetes.azure.com/node-image-version")
    return {**found, **({"node image": image} if image else {})}


def entry_key(node: str) -> str:
    """The key of a ConfigMap under which a node's facts lie."""
    return f"{FACTS}{node}.json.gz"


def entries_of(boards: Iterable[Mapping[str, str]], run: str) -> dict[str, Facts]:
    """The facts that the nodes of this run have left; those of other runs, and what cannot be read, left out.

    boards: the data of the ConfigMaps.
    """
    entries = [object_in(text) for data in boards for key, text in data.items() if key.startswith(FACTS)]
    return {str(entry["node"]): entry["facts"] for entry in entries if entry and entry.get("run") == run}


def gather(
    read: Callable[[], Iterable[Mapping[str, str]]],
    run: str,
    node_count: int,
    *,
    poll_seconds: float,
    timeout_seconds: float,
) -> dict[str, Facts]:
    """Wait until every node of the run has left its facts, or time is up; returns what is there then."""
    started, said = time.monotonic(), -1
    while True:
        found = entries_of(read(), run)
        if len(found) >= node_count or time.monotonic() - started >= timeout_seconds:
            return found
        if len(found) != said:
            said = len(found)
            print(f"{said} of {node_count} nodes have reported", flush=True)
        time.sleep(poll_seconds)
