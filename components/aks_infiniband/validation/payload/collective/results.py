"""The results of an all-reduce's ranks: one node's part, and the run as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypedDict, cast

from ..say.checks import Try
from ..say.expectations import Threshold
from ..say.steadiness import Spread
from .failures import CAUSE, Failure, PlacedFailure, silent, with_names
from .nccl_log import NONE, SOCKETS, Evidence, read_log, together, transport_name

if TYPE_CHECKING:
    from typing import NotRequired


class Size(TypedDict):
    """One message size of an all-reduce; wrong counts the elements that are not the sum.

    spread: of the bus bandwidth of its repetitions; None of one.
    """

    bytes: int
    iterations: int
    seconds: float
    algorithm_gb_per_s: float
    bus_gb_per_s: float
    wrong: int
    spread: NotRequired[Spread | None]


class Small(TypedDict):
    """Small all-reduces in a row, and the seconds that they took together."""

    bytes: int
    repeats: int
    seconds: float


class Figures(TypedDict, total=False):
    """The figures that are the same on every rank."""

    sizes: list[Size]
    small: Small | None
    stopped: str | None
    one_by_one: str | None
    """The reason why all-reduces were launched one by one; None if they were launched as a graph."""


class Rank(Figures, total=False):
    """The result of one rank."""

    rank: int
    gpu: int
    reached_bytes: int | None
    wrong: int | None
    error: str | None
    failure: Failure | None


class NodeRun(Figures):
    """One node's part of a run."""

    node: str
    node_rank: int
    tuning: str
    seconds: float
    evidence: Evidence
    ranks: list[Rank]


class Wrong(TypedDict):
    """A GPU on which elements were not the sum, and how many."""

    node: str
    gpu: int
    elements: int


class Run(Figures, total=False):
    """One run of the all-reduce over all nodes, as the report has it."""

    tuning: str
    nodes: list[str]
    ranks: int
    ranks_per_node: int
    library: str | None
    transport: str
    evidence: Evidence
    transports: dict[str, str]
    devices: dict[str, list[str]]
    seconds: float
    wrong: list[Wrong]
    failures: list[PlacedFailure]
    tries: list[Try]


class Collective(TypedDict, total=False):
    """All runs of the all-reduce, and what they are held against."""

    runs: list[Run]
    nvlink: list[Run]
    """Runs of each NVLink domain with two nodes or more; left out if NVLink ends at the machine."""
    line_gb_per_s: float
    thresholds: dict[str, Threshold | None]


_OF_RANK = ("rank", "gpu", "wrong", "reached_bytes", "failure")
"""The keys that a node's part of a run has of each rank. The figures are the same on all ranks."""
_OUTPUTS_KEPT = 2
"""The limit of one node, because what all nodes say has to fit into one ConfigMap."""


def node_entry(
    node: str, node_rank: int, tuning: str, *, ranks: Sequence[Rank], logs: Sequence[str], seconds: float
) -> NodeRun:
    """One node's part of a run, small enough for a ConfigMap.

    logs: NCCL's, of each rank.
    """
    nothing: Rank = {}
    best = max(ranks, key=lambda rank: len(rank.get("sizes", ())), default=nothing)
    failures = [rank["failure"] for rank in ranks if rank["failure"]]
    telling = sorted(failures, key=lambda failure: failure["part"] != CAUSE)[:_OUTPUTS_KEPT]
    for failure in failures:
        failure["output"] = failure["output"] if any(failure is told for told in telling) else None
    return {
        "node": node,
        "node_rank": node_rank,
        "tuning": tuning,
        "sizes": best.get("sizes", []),
        "small": best.get("small"),
        "stopped": best.get("stopped"),
        "one_by_one": next((figures for rank in ranks if (figures := rank.get("one_by_one"))), None),
        "seconds": round(seconds, 1),
        "evidence": together([read_log(log) for log in logs]),
        "ranks": [cast("Rank", {key: rank.get(key) for key in _OF_RANK}) for rank in ranks],
    }


def node_transport(evidence: Evidence) -> str:
    """The transport of one node. Before anything is connected, it is the network that NCCL has chosen."""
    name = transport_name(evidence)
    if name != NONE or evidence["network"] is None:
        return name
    return SOCKETS if evidence["network"] == "Socket" else f"{evidence['network']}, nothing connected"


def merged(
    entries: Sequence[NodeRun],
    *,
    tuning: str,
    ranks_per_node: int,
    addresses: Mapping[str, str] | None = None,
    replaced: Mapping[str, int] | None = None,
) -> Run:
    """The whole run, made of what its nodes say, as the report has it.

    addresses: those of all nodes that take part, by their names, in the order of their ranks. A node without an entry
    has not answered. replaced: how often the pods of nodes ended in the middle of the run.
    """
    nodes = sorted(entries, key=lambda entry: entry["node_rank"])
    first = nodes[0] if nodes else None
    evidence = together([entry["evidence"] for entry in nodes])
    return {
        "tuning": tuning,
        "nodes": [entry["node"] for entry in nodes],
        "ranks": len(nodes) * ranks_per_node,
        "ranks_per_node": ranks_per_node,
        "library": evidence["library"],
        "transport": transport_name(evidence),
        "evidence": evidence,
        "transports": {entry["node"]: node_transport(entry["evidence"]) for entry in nodes},
        "devices": {entry["node"]: sorted(entry["evidence"]["devices"]) for entry in nodes},
        "sizes": first["sizes"] if first else [],
        "small": first and first["small"],
        "stopped": first and first["stopped"],
        "one_by_one": next((figures for entry in nodes if (figures := entry.get("one_by_one"))), None),
        "seconds": max((entry["seconds"] for entry in nodes), default=0.0),
        "wrong": [
            {"node": entry["node"], "gpu": rank["gpu"], "elements": rank["wrong"]}
            for entry in nodes
            for rank in entry["ranks"]
            if rank["wrong"]
        ],
        "failures": _failures(nodes, addresses or {}, ranks_per_node, replaced or {}),
    }


def _failures(
    nodes: Sequence[NodeRun], addresses: Mapping[str, str], ranks_per_node: int, replaced: Mapping[str, int]
) -> list[PlacedFailure]:
    """The failures of all ranks, and of the nodes that have not answered while others have."""
    named = {address: node for node, address in addresses.items()}
    told: list[PlacedFailure] = [
        {
            "node": entry["node"],
            "gpu": rank["gpu"],
            "rank": rank["rank"],
            "reached_bytes": rank["reached_bytes"],
            **rank["failure"],
        }
        for entry in nodes
        for rank in entry["ranks"]
        if rank["failure"]
    ]
    answered = {entry["node"] for entry in nodes}
    gone = [
        failure
        for number, node in enumerate(addresses)
        if answered and node not in answered
        for failure in silent(
            node, first_rank=number * ranks_per_node, ranks=ranks_per_node, replaced=replaced.get(node, 0)
        )
    ]
    return [*(with_names(failure, named) for failure in told), *gone]
