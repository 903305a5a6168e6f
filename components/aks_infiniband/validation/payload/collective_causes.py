"""Why a rank of the all-reduce ended: from what it printed last, to a likely cause and what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

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


def likely_cause(failure: Mapping[str, Any]) -> str | None:
    """The likely cause of one rank's failure; None where its words are of no kind that is known."""
    if "SIGKILL" in failure["reason"]:
        return "the process was killed: by the kernel for want of memory (dmesg | grep -i oom), or by hand"
    for pattern, cause in _PATTERNS:
        if pattern.search(failure["output"] or ""):
            return cause
    return None


def part_of(failure: Mapping[str, Any]) -> str:
    """The part that a failed rank has in the failure of all."""
    said = failure["output"] or ""
    if not failure["own"]:
        return STOPPED
    if likely_cause(failure) is not None:
        return CAUSE
    if _WAITED.search(said):
        return WAITED
    return FOLLOWED if _CONSEQUENCES.search(said) else CAUSE


def explained(failure: Mapping[str, Any]) -> dict[str, Any]:
    """A failure with its part and its likely cause, told while everything that the rank said is at hand."""
    return {**failure, "part": part_of(failure), "cause": likely_cause(failure) or _last_line(failure["output"])}


def culprits(failures: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Whose failures brought about the others'.

    Where all who ended by themselves had only waited, those are meant that had to be ended. Where nobody can be told
    from the others, all are.
    """
    by_part = {part: [one for one in failures if one["part"] == part] for part in (CAUSE, FOLLOWED, WAITED, STOPPED)}
    if by_part[CAUSE]:
        return by_part[CAUSE]
    if by_part[WAITED] and by_part[STOPPED] and not by_part[FOLLOWED]:
        return [{**failure, "cause": _HANGS} for failure in by_part[STOPPED]]
    return list(failures)


def _last_line(output: str | None) -> str:
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    return f"its last words: {lines[-1][:300]}" if lines else "it said nothing: kubectl describe its pod"
