"""Other work on a GPU while it is measured: what NVML shows of it, and which checks it spoils.

A pod may be in a separate process namespace, in which NVML shows none of the other processes (assumed), so memory, and
the load of a GPU before our own work, count as much as processes do. Our own work is distinguished by its time: our
process and its memory are there from a known moment on. The other GPUs of a node have separate processes, which open
this one only after everything else is measured.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol, TypeVar

from ..say.checks import Check, make_check, passes
from .results import Gpu, NodeGpus, Others

CHECK = "gpu-other-work"
LEAST_BUSY = 0.05
"""An idle GPU reads 0; one that another process uses 30 % of the time reads 0.27 to 0.30 (one H200, 2026-11-28). The
limit between the two is assumed.
"""
LEAST_MEBIBYTES = 200
"""A process that only opens a GPU takes 518 MiB of an H200's memory (driver 580.159.04, 2026-11-28)."""
_SETTLE_SECONDS = 0.6
"""Work that ended half a second ago is no longer in the load of a GPU (the same GPU)."""
_LOOKS, _EACH_SECONDS = 8, 0.1
_Number = TypeVar("_Number", int, float)


class Shows(Protocol):
    """NVML's facts on a GPU; None if it does not report them."""

    @property
    def processes(self) -> int | None:
        """The number of processes that compute on it."""

    @property
    def mebibytes(self) -> int | None:
        """The memory in use."""

    @property
    def busy(self) -> float | None:
        """The share of the last moments in which it worked."""


class Watch:
    """Looks for other work on a GPU, from before our own begins until it is done."""

    def __init__(self, nvml: Shows, *, counts_memory: bool = True) -> None:
        """Nothing has been seen yet. counts_memory: true if only processes take of the GPU's memory."""
        self._nvml, self._counts_memory = nvml, counts_memory
        self.found: Others = {"processes": None, "mebibytes": None, "busy": None}
        self._own_processes: int | None = None
        self._own_mebibytes: int | None = None

    def before(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Look for about a second, while this process has nothing on the GPU."""
        sleep(_SETTLE_SECONDS)
        for _ in range(_LOOKS):
            self._keep(self._nvml.processes, self._mebibytes, self._nvml.busy)
            sleep(_EACH_SECONDS)

    def opened(self) -> None:
        """From now on this process is one of those that NVML shows, if it shows any."""
        self._own_processes = _difference(self._nvml.processes, self.found["processes"])

    def filled(self) -> None:
        """From now on this process takes no more memory than it has."""
        self._own_mebibytes = _difference(self._mebibytes, self.found["mebibytes"])

    def note(self) -> None:
        """Look for work other than our own."""
        processes = _difference(self._nvml.processes, self._own_processes)
        mebibytes = None if self._own_mebibytes is None else _difference(self._mebibytes, self._own_mebibytes)
        self._keep(processes, mebibytes, None)

    @property
    def _mebibytes(self) -> int | None:
        return self._nvml.mebibytes if self._counts_memory else None

    def _keep(self, processes: int | None, mebibytes: int | None, busy: float | None) -> None:
        self.found = {
            "processes": _most(self.found["processes"], processes),
            "mebibytes": _most(self.found["mebibytes"], mebibytes),
            "busy": _most(self.found["busy"], busy),
        }


def _difference(now: int | None, then: int | None) -> int | None:
    return None if now is None else max(0, now - (then or 0))


def _most(one: _Number | None, other: _Number | None) -> _Number | None:
    known = [value for value in (one, other) if value is not None]
    return max(known, default=None)


def work_of_others(gpu: Gpu) -> str:
    """Other processes' work on a GPU, in words; empty if NVML shows nothing."""
    work = gpu.get("others")
    if work is None:
        return ""
    words = []
    if work["processes"]:
        words.append(f"{work['processes']} other process{'es' if work['processes'] > 1 else ''}")
    if work["mebibytes"] is not None and work["mebibytes"] >= LEAST_MEBIBYTES:
        words.append(f"{work['mebibytes']} MiB of its memory in use by others")
    if work["busy"] is not None and work["busy"] >= LEAST_BUSY:
        words.append(f"busy {work['busy']:.0%} of the time before our load began")
    return ", ".join(words)


def judge_others(gpus: Sequence[tuple[str, str, Gpu]]) -> list[Check]:
    """A check for each GPU on which others worked. gpus: node, the GPU as checks name it, and the GPU."""
    asked = "no work of others on a GPU while it is measured"
    checks = [
        make_check(CHECK, "not measured", expected=asked, measured=words, cause=_CAUSE, node=node, device=device)
        for node, device, gpu in gpus
        if (words := work_of_others(gpu))
    ]
    if checks:
        return checks
    told = any(value is not None for _, _, gpu in gpus for value in gpu.get("others", {}).values())
    return [passes(CHECK, asked) if told else make_check(CHECK, "not measured", expected=asked, measured=_UNTOLD)]


_UNTOLD = "NVML does not tell"
_CAUSE = (
    "others use this GPU, so what it did is shown and not judged: it says nothing of the machine. Find who it is "
    "(nvidia-smi on the node; kubectl get pods of this node), let it end, and measure again"
)


def excused(checks: Sequence[Check], answers: Sequence[NodeGpus]) -> list[Check]:
    """Checks of what several nodes did together, without blame for what others' work on their GPUs may have caused."""
    busy = sorted({one["node"] for one in answers if any(map(work_of_others, one["gpus"]))})
    if not busy:
        return list(checks)
    why = f"others used GPUs of {', '.join(busy)} ({CHECK}), so a low figure says nothing of the machines"
    return [
        {**check, "verdict": "not measured", "cause": why} if _is_spoiled(check, busy) else check for check in checks
    ]


def _is_spoiled(check: Check, busy: Collection[str]) -> bool:
    return (
        check["check"] in _SPOILED
        and check["verdict"] in ("warn", "fail")
        and (check["node"] is None or check["node"] in busy)
    )


_SPOILED = ("all-reduce", "all-reduce-small", "all-reduce-nvlink", "all-reduce-pairs")
"""The GPUs of all nodes make them together; none is faster than its slowest."""
