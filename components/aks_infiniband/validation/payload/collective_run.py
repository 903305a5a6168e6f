"""What the ranks of an all-reduce left: one node's part, the run as a whole, and why a rank ended early."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from .collective_documents import Evidence, Failure, NodeRun, PlacedFailure, Rank, Run
from .nccl_log import NONE, SOCKETS, read_log, together, transport_name

_OUTPUTS_KEPT = 2
"""Of one node: what all nodes say has to fit into one ConfigMap."""


def evidence_of(folders: Sequence[Path]) -> Evidence:
    """What NCCL said on this node, from the folders of its ranks."""
    return together([read_log(_log(folder)) for folder in folders])


def node_entry(
    *,
    node: str,
    node_rank: int,
    tuning: str,
    ranks: Sequence[Rank],
    evidence: Evidence,
    seconds: float,
) -> NodeRun:
    """One node's part of a run, small enough for a ConfigMap: the figures are the same on every rank, so once."""
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
        "torch": best.get("torch"),
        "sizes": best.get("sizes", []),
        "small": best.get("small"),
        "stopped": best.get("stopped"),
        "seconds": round(seconds, 1),
        "evidence": evidence,
        "ranks": [
            {
                "rank": rank["rank"],
                "gpu": rank["gpu"],
                "wrong": rank.get("wrong"),
                "reached_bytes": rank.get("reached_bytes"),
                "failure": rank["failure"],
            }
            for rank in ranks
        ],
    }


def _log(folder: Path) -> str:
    with contextlib.suppress(OSError):
        return (folder / "nccl.log").read_text(encoding="utf-8", errors="replace")
    return ""


def node_transport(evidence: Evidence) -> str:
    """The transport of one node; before anything is connected, the network that NCCL has chosen."""
    name = transport_name(evidence)
    if name != NONE or evidence["network"] is None:
        return name
    return SOCKETS if evidence["network"] == "Socket" else f"{evidence['network']}, nothing connected"


def merged(entries: Sequence[NodeRun], *, tuning: str, ranks_per_node: int) -> Run:
    """The run as a whole, from what its nodes say: the form in which it stands in the report."""
    nodes = sorted(entries, key=lambda entry: entry["node_rank"])
    first = nodes[0] if nodes else None
    evidence = together([entry["evidence"] for entry in nodes])
    return {
        "tuning": tuning,
        "nodes": [entry["node"] for entry in nodes],
        "ranks": len(nodes) * ranks_per_node,
        "ranks_per_node": ranks_per_node,
        "torch": first and first["torch"],
        "library": evidence["library"],
        "transport": transport_name(evidence),
        "evidence": evidence,
        "transports": {entry["node"]: node_transport(entry["evidence"]) for entry in nodes},
        "devices": {entry["node"]: sorted(entry["evidence"]["devices"]) for entry in nodes},
        "sizes": first["sizes"] if first else [],
        "small": first and first["small"],
        "stopped": first and first["stopped"],
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
                "gpu": rank["gpu"],
                "rank": rank["rank"],
                "reached_bytes": rank["reached_bytes"],
                **rank["failure"],
            }
            for entry in nodes
            for rank in entry["ranks"]
            if rank["failure"]
        ],
    }


_CAUSES = (
    (
        r"No module named 'torch'",
        "the image has no PyTorch: name one that has in validation.image",
    ),
    (
        r"address already in use|EADDRINUSE",
        "another process took the port at which the ranks meet, between its being chosen and being used: measure again",
    ),
    (
        r"No space left on device",
        "shared memory is too small for NCCL: mount a memory-backed emptyDir at /dev/shm",
    ),
    (
        r"ibv_(reg_mr|reg_dmabuf_mr|create_cq|create_qp)\w*.*(Cannot allocate memory|failed)|Cannot allocate memory",
        "memory cannot be registered with the HCA: the pod lacks IPC_LOCK, or does not run as root",
    ),
    (
        r"invalid device ordinal|no CUDA-capable device|no ROCm-capable device|CUDA driver (version|initialization)",
        "the GPU is not there, or its driver does not suit the image's CUDA: nvidia-smi on the node tells",
    ),
    (
        r"no kernel image is available",
        "the image's PyTorch has no code for this GPU: name one that has in validation.image",
    ),
    (
        r"uncorrectable ECC|Xid|illegal memory access|device-side assert|unspecified launch failure|hardware error",
        "the GPU failed: dmesg | grep -i xid on the node tells how; recreate the node",
    ),
    (
        r"out of memory|OutOfMemory",
        "the GPU has too little free memory: something else runs on it",
    ),
    (
        r"Got completion .*(status=12|status=5)|IBV_WC_RETRY_EXC_ERR|transport retry counter exceeded",
        "an InfiniBand peer does not answer: its link is down, or it is on another partition",
    ),
    (
        r"Failed to initialize (any )?NET plugin|invalid usage",
        "NCCL has not the network that its environment asks for: look at NCCL_* of the pool's ConfigMap",
    ),
)
_CONSEQUENCES = re.compile(
    r"remote process exited|closed by (remote )?peer|Connection was likely closed|Connection (reset|refused)"
    r"|collective operation timeout|Watchdog caught|recvValue failed|store->get",
    re.IGNORECASE,
)
_PATTERNS = tuple((re.compile(pattern, re.IGNORECASE), cause) for pattern, cause in _CAUSES)


_WAITED = re.compile(r"collective operation timeout|Watchdog caught", re.IGNORECASE)
_HANGS = "it no longer answers, and the others wait for it: the GPU hangs (dmesg | grep -i xid), or the process does"

CAUSE, FOLLOWED, WAITED, STOPPED = "cause", "followed", "waited", "stopped"
"""The part that a failed rank has: a reason of its own, words that another one has gone, waiting in vain, or being
ended by its launcher."""


def likely_cause(reason: str, output: str | None) -> str | None:
    """The likely cause of one rank's failure; None where its words are of no kind that is known."""
    if "SIGKILL" in reason:
        return "the process was killed: by the kernel for want of memory (dmesg | grep -i oom), or by hand"
    return next((cause for pattern, cause in _PATTERNS if pattern.search(output or "")), None)


def explained(reason: str, *, own: bool, output: str | None) -> Failure:
    """A failure with its part and its likely cause, told while everything that the rank said is at hand."""
    cause = likely_cause(reason, output)
    if not own:
        part = STOPPED
    elif cause is not None:
        part = CAUSE
    elif _WAITED.search(output or ""):
        part = WAITED
    else:
        part = FOLLOWED if _CONSEQUENCES.search(output or "") else CAUSE
    return {"reason": reason, "own": own, "output": output, "part": part, "cause": cause or _last_line(output)}


def culprits(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """Whose failures brought about the others'.

    Where all who ended by themselves had only waited, those are meant that had to be ended. Where nobody can be told
    from the others, all are.
    """
    by_part = {
        part: [failure for failure in failures if failure["part"] == part]
        for part in (CAUSE, FOLLOWED, WAITED, STOPPED)
    }
    if by_part[CAUSE]:
        return by_part[CAUSE]
    if by_part[WAITED] and by_part[STOPPED] and not by_part[FOLLOWED]:
        return [{**failure, "cause": _HANGS} for failure in by_part[STOPPED]]
    return list(failures)


def _last_line(output: str | None) -> str:
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    return f"its last words: {lines[-1][:300]}" if lines else "it said nothing: kubectl describe its pod"
