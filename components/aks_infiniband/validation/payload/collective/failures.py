"""Why a rank of an all-reduce failed, and which of several failures caused the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypedDict

from ..programs import words as catalogue
from ..programs.endings import CAUSES, SILENT_NODE


class Failure(TypedDict):
    """The failure of a rank.

    own: whether it ended by itself; if not, its launcher ended it. output: the end of what it printed. part: see CAUSE.
    peer: the rank that it does not reach, first by address, later by the name of its node.
    """

    reason: str
    own: bool
    output: str | None
    part: str
    cause: str
    peer: str | None


class PlacedFailure(Failure):
    """The node, GPU and rank of a failure, and the message size that the rank had reached."""

    node: str
    gpu: int
    rank: int
    reached_bytes: int | None


_PEER = re.compile(r"(?:to|from|peer) (\S+?)<\d+>")
_CONSEQUENCES = re.compile(
    r"remote process exited|closed by (remote )?peer|Connection was likely closed|Connection (reset|refused)"
    r"|Broken pipe|connection abort"
    r"|Socket recv failed|exceeded (error )?(retr|timeouts)|has no unique id for the ranks",
    re.IGNORECASE,
)
_WAITED = re.compile(r"collective operation timeout")
"""The words of a rank at its own time limit (nccl.py). A rank has a limit because NCCL waits for ever."""
_HANGS = "it no longer answers, and the others wait for it: the GPU hangs (dmesg | grep -i xid), or the process does"

_PODS_END = (
    "the status of the node's pods of the Job says why: OOMKilled, exit code 137, is a limit of memory that is too "
    "small for NCCL and its shared memory, or a node without enough of it (free it, or give the pool larger machines); "
    "Evicted and deleted pods have their cause next to them"
)

CAUSE, UNREACHED, FOLLOWED, WAITED, STOPPED = "cause", "unreached", "followed", "waited", "stopped"
"""The part that a rank has in a failure: it has a separate reason, it does not reach a peer, it says that another rank
has gone, it waited in vain, or its launcher ended it.
"""


def likely_cause(reason: str, words: str | None) -> str | None:
    """The likely cause of one rank's failure; None if its words are not known."""
    if "SIGKILL" in reason:
        return "the process was killed: by the kernel for want of memory (dmesg | grep -i oom), or by hand"
    if "SIGBUS" in reason:
        return "shared memory or a mapped file is full: mount a memory-backed emptyDir at /dev/shm"
    told = words or ""
    known = catalogue.found_in(told, catalogue.RANKS)
    if known is None:
        known = next((entry for _, entry in catalogue.statuses_in(told) if entry["part"] == CAUSE), None)
    return known["cause"] if known else None


def _unreached(words: str) -> tuple[str | None, str] | None:
    """The address of a peer that is not reached, if it is named, and the reason; None if the words do not say so."""
    lost = [(line, entry["cause"]) for line, entry in catalogue.statuses_in(words) if entry["part"] == UNREACHED]
    for line in words.splitlines():
        if entry := catalogue.found_in(line, catalogue.RANKS, part=UNREACHED):
            lost.append((line, entry["cause"]))
    if not lost:
        return None
    line, why = lost[0]
    peer = _PEER.search(line)
    return (peer[1] if peer else None), why


def explained(reason: str, *, own: bool, output: str | None, warned: Sequence[str] = ()) -> Failure:
    """A failure with its part and its likely cause. The explanation is made while everything that the rank said is
    still at hand.

    A rank that its launcher ended may still have said what it waited for.

    warned: NCCL's warnings, in their order. NCCL calls its last warning the last error, but that is often about a
    connection that was closed after the rank had failed.
    """
    words = "\n".join([output or "", *warned])
    cause = likely_cause(reason, output) or likely_cause(reason, words)
    unreached = _unreached(words)
    flushed = any(entry["part"] == FOLLOWED for _, entry in catalogue.statuses_in(words))
    own_cause = cause is not None and (own or likely_cause("", "\n".join(warned)) is not None)
    kinds = {
        CAUSE: own_cause,
        UNREACHED: unreached,
        WAITED: _WAITED.search(words),
        FOLLOWED: _CONSEQUENCES.search(words) or flushed,
    }
    part = next((kind for kind, is_so in kinds.items() if is_so), CAUSE if own else STOPPED)
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    last = f"its last words: {lines[-1][:300]}" if lines else "it said nothing: kubectl describe its pod"
    peer = unreached[0] if unreached and part == UNREACHED else None
    why = f"it does not reach {peer or 'a peer'}: {unreached[1]}" if unreached else last
    return {"reason": reason, "own": own, "output": output, "part": part, "cause": cause or why, "peer": peer}


def silent(node: str, *, first_rank: int, ranks: int, replaced: int = 0) -> list[PlacedFailure]:
    """The failures of a node that did not answer. replaced: how often its pod ended meanwhile."""
    failure: Failure = {
        "reason": f"its pod ended in the middle of it, {replaced} times" if replaced else SILENT_NODE,
        "own": False,
        "output": None,
        "part": CAUSE,
        "cause": _PODS_END if replaced else CAUSES["silent"],
        "peer": None,
    }
    return [
        {**failure, "node": node, "gpu": gpu, "rank": first_rank + gpu, "reached_bytes": None} for gpu in range(ranks)
    ]


def with_names(failure: PlacedFailure, nodes: Mapping[str, str]) -> PlacedFailure:
    """A failure whose peer is named. nodes: names by the addresses of their pods."""
    peer = failure.get("peer")
    if peer is None or peer not in nodes:
        return failure
    return {
        **failure,
        "peer": nodes[peer],
        "cause": failure["cause"].replace(f"reach {peer}:", f"reach {nodes[peer]}:"),
    }


def culprits(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """The failures that caused the others.

    If two nodes do not reach each other, the one at fault is unknown, unless one of them is in every such pair. If
    ranks waited in vain, the cause is the ranks that had to be ended: the first rank that gives up ends the others'
    wait, and the others say that it has gone. If no failure stands out, all are returned.
    """
    parts = (CAUSE, UNREACHED, WAITED, STOPPED)
    by_part = {part: [failure for failure in failures if failure["part"] == part] for part in parts}
    if by_part[CAUSE]:
        return by_part[CAUSE]
    if by_part[UNREACHED]:
        return _of_every_pair(failures) or by_part[UNREACHED]
    if by_part[WAITED] and by_part[STOPPED]:
        return [{**failure, "cause": _HANGS} for failure in by_part[STOPPED]]
    return list(failures)


def _of_every_pair(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """If one node is in every pair that does not reach each other, that node's failures; otherwise none.

    A single pair does not show which of its two nodes it is.
    """
    lost = [failure for failure in failures if failure["part"] == UNREACHED]
    pairs = {frozenset((failure["node"], failure["peer"] or "")) for failure in lost}
    common = frozenset.intersection(*pairs)
    if len(pairs) < 2 or len(common) != 1 or "" in common:
        return []
    (node,) = common
    others = sorted({name or "a peer" for pair in pairs for name in pair - common})
    cause = f"it and {' and '.join(others)} do not reach each other: {lost[0]['cause'].partition(': ')[2]}"
    return [{**failure, "cause": cause} for failure in failures if failure["node"] == node]
