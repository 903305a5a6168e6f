"""What the ranks of an all-reduce left, put together: one node's part, and the run as a whole."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .collective_causes import CAUSE
from .nccl_log import NONE, SOCKETS, read_log, together, transport_name

_KEPT = ("rank", "gpu", "wrong", "reached_bytes", "failure")
_OUTPUTS_KEPT = 2
"""Of one node: what all nodes say has to fit into one ConfigMap."""


def evidence_of(folders: Sequence[Path]) -> dict[str, Any]:
    """What NCCL said on this node, from the folders of its ranks."""
    return together([read_log(_log(folder)) for folder in folders])


def node_entry(
    *,
    node: str,
    node_rank: int,
    tuning: str,
    ranks: Sequence[dict[str, Any]],
    evidence: Mapping[str, Any],
    seconds: float,
) -> dict[str, Any]:
    """One node's part of a run, small enough for a ConfigMap: the figures are the same on every rank, so once."""
    best = max(ranks, key=lambda rank: len(rank.get("sizes", ())), default={})
    failures = [rank["failure"] for rank in ranks if rank["failure"]]
    telling = sorted(failures, key=lambda failure: failure["part"] != CAUSE)[:_OUTPUTS_KEPT]
    for failure in failures:
        failure["output"] = failure["output"] if any(failure is one for one in telling) else None
    return {
        "node": node,
        "node_rank": node_rank,
        "tuning": tuning,
        "torch": best.get("torch"),
        "sizes": best.get("sizes", []),
        "small": best.get("small"),
        "stopped": best.get("stopped"),
        "seconds": round(seconds, 1),
        "evidence": dict(evidence),
        "ranks": [{name: rank.get(name) for name in _KEPT} for rank in ranks],
    }


def _log(folder: Path) -> str:
    with contextlib.suppress(OSError):
        return (folder / "nccl.log").read_text(encoding="utf-8", errors="replace")
    return ""


def node_transport(evidence: Mapping[str, Any]) -> str:
    """The transport of one node; before anything is connected, the network that NCCL has chosen."""
    name = transport_name(evidence)
    if name != NONE or evidence["network"] is None:
        return name
    return SOCKETS if evidence["network"] == "Socket" else f"{evidence['network']}, nothing connected"


def merged(entries: Sequence[Mapping[str, Any]], *, tuning: str, ranks_per_node: int) -> dict[str, Any]:
    """The run as a whole, from what its nodes say: the form in which it stands in the report."""
    nodes = sorted(entries, key=lambda entry: entry["node_rank"])
    first = nodes[0] if nodes else {}
    evidence = together([entry["evidence"] for entry in nodes])
    return {
        "tuning": tuning,
        "nodes": [entry["node"] for entry in nodes],
        "ranks": len(nodes) * ranks_per_node,
        "ranks_per_node": ranks_per_node,
        "torch": first.get("torch"),
        "library": evidence["library"],
        "transport": transport_name(evidence),
        "evidence": evidence,
        "transports": {entry["node"]: node_transport(entry["evidence"]) for entry in nodes},
        "devices": {entry["node"]: sorted(entry["evidence"]["devices"]) for entry in nodes},
        "sizes": first.get("sizes", []),
        "small": first.get("small"),
        "stopped": first.get("stopped"),
        "seconds": max((entry["seconds"] for entry in nodes), default=0.0),
        "wrong": [
            {"node": entry["node"], "gpu": rank["gpu"], "elements": rank["wrong"]}
            for entry in nodes
            for rank in entry["ranks"]
            if rank["wrong"]
        ],
        "failures": [
            {
                "node": entry["node"],
                **{name: rank[name] for name in ("gpu", "rank", "reached_bytes")},
                **rank["failure"],
            }
            for entry in nodes
            for rank in entry["ranks"]
            if rank["failure"]
        ],
    }
