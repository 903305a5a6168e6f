"""Starts the process of a part so that it dies with its parent; finds and ends what a run has left behind."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import psutil

from rehearsal.control_plane.parts import Part
from rehearsal.run.folder import ENVIRONMENT_VARIABLE, RunFolder
from rehearsal.tools.paths import PROJECT

LAST_LINES = 15
"""The lines of a part's log that an error shows."""

FEWER_COLLECTIONS = {"GOGC": "400"}
"""For programs in Go: they collect garbage when their memory has grown to four times what they use, not to twice. So
the API server takes a tenth less processor time, and 110 MB more memory."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_LIBC = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl({option}, {value}): {os.strerror(error)}")


def dies_with_parent() -> Callable[[], None]:
    """A function for a child between fork and exec, so that the kernel kills it when its parent dies, however that
    dies.

    The kernel watches the parent's thread, not its process: start such children from the main thread.
    """
    parent = os.getpid()

    def in_child() -> None:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the kernel was set to watch it
            os._exit(1)

    return in_child


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent ends, so that it can end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def processes_of_run(folder: Path) -> list[psutil.Process]:
    """The user's processes that carry the run folder in their environment, but not the caller and its ancestors."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    user = os.getuid()
    processes = []
    for process in psutil.process_iter():
        try:
            if process.pid in own or process.uids().real != user:
                continue
            if process.environ().get(ENVIRONMENT_VARIABLE) == str(folder):
                processes.append(process)
        except psutil.Error:  # it has ended meanwhile, or belongs to another user
            continue
    return processes


def end(processes: Iterable[psutil.Process], *, grace_s: float) -> list[psutil.Process]:
    """Ends processes with SIGTERM, and with SIGKILL those that are still there after the grace period. Returns those
    that were killed.
    """
    remaining = list(processes)
    for process in remaining:
        _signal(process, signal.SIGTERM)
    _, killed = psutil.wait_procs(remaining, timeout=grace_s)
    for process in killed:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(killed, timeout=grace_s)
    return killed


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


class RunningPart:
    """A part that has been started. The part that reaps its process says so with `has_ended`."""

    def __init__(self, part: Part, process: subprocess.Popen[bytes], log: Path) -> None:
        self.part = part
        self.process = process
        self.log = log
        self.ready_after_s: float | None = None
        self.exit_status: int | None = None
        """As subprocess has it: negative for a signal."""
        self._begun = time.monotonic()
        self._ended = asyncio.Event()

    @classmethod
    def start(cls, part: Part, run: RunFolder) -> RunningPart:
        """Starts a part with its output in its log. From the main thread only (see `dies_with_parent`)."""
        run.ready_file(part.name).unlink(missing_ok=True)
        log = run.log(part.name)
        inherited = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
        with log.open("ab") as output:
            process = subprocess.Popen(
                part.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=PROJECT,
                env=inherited | {ENVIRONMENT_VARIABLE: str(run.root), **FEWER_COLLECTIONS},
                preexec_fn=dies_with_parent(),  # noqa: PLW1509  the supervisor has one thread
            )
        return cls(part, process, log)

    def age_s(self) -> float:
        """Seconds since it began."""
        return round(time.monotonic() - self._begun, 3)

    def has_ended(self, exit_status: int) -> None:
        """Note that the supervisor has reaped it."""
        self.exit_status = exit_status
        self.process.returncode = exit_status  # it is reaped: subprocess must not wait for it
        self._ended.set()

    def how_it_ended(self) -> str:
        """By which signal or with which exit status it ended, in words."""
        if self.exit_status is not None and self.exit_status < 0:
            return f"was ended by {signal.Signals(-self.exit_status).name}"
        return f"ended with exit status {self.exit_status}"

    def tail(self) -> str:
        """The last lines of the log, and its path, to follow an error's first line."""
        with self.log.open(encoding="utf-8", errors="replace") as file:
            lines = deque(file, maxlen=LAST_LINES)
        if not lines:
            return f"\nIts log is empty: {self.log}"
        return f"\nThe last lines of {self.log}:\n" + "".join(f"  {line.rstrip()}\n" for line in lines).rstrip()

    def facts(self) -> dict[str, object]:
        """The entry of the part in run.json."""
        return {"pid": self.process.pid, "log": str(self.log), "ready_after_s": self.ready_after_s}

    async def end(self) -> None:
        """SIGTERM, and SIGKILL after the part's grace."""
        if self.exit_status is not None:
            return
        self.process.terminate()
        try:
            async with asyncio.timeout(self.part.grace_s):
                await self._ended.wait()
        except TimeoutError:
            self.process.kill()
            await self._ended.wait()
