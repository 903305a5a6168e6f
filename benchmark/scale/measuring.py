"""Processor time of all that a piece of work starts, and the memory that it takes at its largest."""

import ctypes
import os
import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_PAUSE_SECONDS: Final = 1.0
"""Between two looks at the memory."""
_SET_CHILD_SUBREAPER: Final = 36
"""Option of prctl: processes whose parent has ended become children of this one, so that their time is counted here."""


@dataclass
class Usage:
    """Usage of a piece of work. seconds: of the clock; cpu_seconds: of all its processes; mebibytes: the most at a
    time.
    """

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    mebibytes: float = 0.0


@contextmanager
def measured(*, whole: bool = False) -> Iterator[Usage]:
    """The usage of the processes that the block starts; filled in when it ends.

    whole: whether processes that outlive their parents count too. Nothing else may be started meanwhile.
    """
    if whole:
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1)
    usage, ended = Usage(), threading.Event()
    watch = threading.Thread(target=_watch, args=(usage, ended), daemon=True)
    began, before = time.monotonic(), _cpu_seconds()
    watch.start()
    try:
        yield usage
    finally:
        usage.seconds = time.monotonic() - began
        ended.set()
        watch.join()
        if whole:
            _collect()
        usage.cpu_seconds = _cpu_seconds() - before


def _cpu_seconds() -> float:
    return sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _collect() -> None:
    """Wait for what has ended: the kernel counts a process's time with its parent's once it is waited for."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _watch(usage: Usage, ended: threading.Event) -> None:
    while not ended.wait(_PAUSE_SECONDS):
        usage.mebibytes = max(usage.mebibytes, sum(map(_own_mebibytes, descendants(os.getpid()))))


def descendants(root: int) -> list[int]:
    """The processes below one."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            # The name in parentheses may have any character in it.
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1]) if entry.name.isdigit() else 0
            children.setdefault(parent, []).append(int(entry.name) if parent else 0)
    every, open_ = list[int](), [root]
    while open_:
        open_ += (mine := children.get(open_.pop(), []))
        every += mine
    return every


def _own_mebibytes(process: int) -> float:
    """The memory of a process; what it shares with others counts by its part."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0
