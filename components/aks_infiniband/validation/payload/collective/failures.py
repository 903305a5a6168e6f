"""Why a rank of an all-reduce failed, and which of several failures caused the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypedDict


class Failure(TypedDict):
    """How a rank failed.

    own: whether it ended by itself; else its launcher ended it. output: the end of what it printed. part: see CAUSE.
    """

    reason: str
    own: bool
    output: str | None
    part: str
    cause: str


class PlacedFailure(Failure):
    """Whose failure it is, and the message size that the rank had reached."""

    node: str
    gpu: int
    rank: int
    reached_bytes: int | None


_CAUSES = (
    (r"No module named 'torch'", "the image has no PyTorch: name one that has in validation.image"),
    (
        r"the image has no libnccl|lib(cudart|amdhip64)\S*: cannot open shared object",
        "the image has no NCCL, or no CUDA runtime for it: name one that has in validation.image",
    ),
    (
        r"libcuda\S*: cannot open shared object",
        "the pod has no GPU driver: look at the GPUs' device plugin",
    ),
    (
        r"address already in use|EADDRINUSE",
        "another process took the port at which the ranks meet, between its being chosen and being used: measure again",
    ),
    (
        r"(shared memory|posix_fallocate|/dev/shm).*No space left on device",
        "shared memory is too small for NCCL: mount a memory-backed emptyDir at /dev/shm",
    ),
    (r"No space left on device", "a disk is full: the node's, or in a rehearsal this computer's"),
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
    (r"out of memory|OutOfMemory", "the GPU has too little free memory: something else runs on it"),
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
_WAITED = re.compile(r"collective operation timeout|Watchdog caught", re.IGNORECASE)
_HANGS = "it no longer answers, and the others wait for it: the GPU hangs (dmesg | grep -i xid), or the process does"

CAUSE, FOLLOWED, WAITED, STOPPED = "cause", "followed", "waited", "stopped"
"""The part that a rank has in a failure: it has a reason of its own, it says that another rank has gone, it waited in
vain, or its launcher ended it."""


def likely_cause(reason: str, output: str | None) -> str | None:
    """The likely cause of one rank's failure; None where its words are of no kind that is known."""
    if "SIGKILL" in reason:
        return "the process was killed: by the kernel for want of memory (dmesg | grep -i oom), or by hand"
    return next((cause for pattern, cause in _CAUSES if re.search(pattern, output or "", re.IGNORECASE)), None)


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
    lines = [line.strip() for line in (output or "").splitlines() if line.strip()]
    last = f"its last words: {lines[-1][:300]}" if lines else "it said nothing: kubectl describe its pod"
    return {"reason": reason, "own": own, "output": output, "part": part, "cause": cause or last}


def culprits(failures: Sequence[PlacedFailure]) -> list[PlacedFailure]:
    """The failures that caused the others.

    Where ranks had waited in vain, these are the ranks that had to be ended: the first that gives up ends the wait of
    the others, who say that it has gone. Where no failure stands out, these are all.
    """
    by_part = {part: [failure for failure in failures if failure["part"] == part] for part in (CAUSE, WAITED, STOPPED)}
    if by_part[CAUSE]:
        return by_part[CAUSE]
    if by_part[WAITED] and by_part[STOPPED]:
        return [{**failure, "cause": _HANGS} for failure in by_part[STOPPED]]
    return list(failures)
