"""Starting, keeping and ending a rehearsal's processes, for the command line and for tests."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from rehearsal.control_plane.parts import ALL_PARTS, CONTROL_PLANE, TIME_LIMIT_S, select
from rehearsal.control_plane.processes import end, processes_of_run
from rehearsal.run.folder import ENVIRONMENT_VARIABLE, RunFolder, RunFolderError
from rehearsal.run.loopback import reaching_loopback
from rehearsal.tools.paths import PROJECT

START_LIMIT_S = 3 * TIME_LIMIT_S
KEEP_LIMIT_S = 30.0
"""Seconds for all parts to start. The limit is longer than any part may take, because three start one after another."""
STOP_LIMIT_S = 40.0
"""More than the grace periods of all parts together."""
ROOM_MB = 300
"""Megabytes that must be free: what a run folder takes, and as much again. The stack dev takes 141 MB, of which etcd's
log is 64 (2026-11-22).
"""

CONTROL_PLANE_ONLY = CONTROL_PLANE
WITH_KWOK = (*CONTROL_PLANE, "kwok")


class ControlPlaneError(Exception):
    """The processes of a rehearsal did not start, or one of them ended. The message names the log."""


class ControlPlane:
    """The running processes of one rehearsal.

    A context manager: at its end the processes end, unless `keep()` was called. The processes also end when the process
    that holds this object ends or is killed.
    """

    def __init__(self, run: RunFolder, supervisor: subprocess.Popen[bytes]) -> None:
        self.run = run
        self._supervisor = supervisor
        self._events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._failure: str | None = None
        self._refused = False
        threading.Thread(target=self._read_events, daemon=True, name="supervisor-events").start()

    @classmethod
    def start(
        cls,
        folder: Path | str,
        *,
        speed: float = 1.0,
        parts: Sequence[str] = ALL_PARTS,
        environment: Mapping[str, str] | None = None,
        on_part_ready: Callable[[str, float], None] | None = None,
    ) -> Self:
        """Empties the run folder, starts the parts and waits until all are ready.

        `speed` is in simulated seconds per real second. `environment` has the variables of the parts in addition to
        this process's own. `on_part_ready` gets each part and the seconds it took. Raises ControlPlaneError when the
        folder is in use or a part fails, and UnknownPartError for unknown parts.
        """
        run = RunFolder.at(folder)
        names = select(parts)
        try:
            run.claim()
        except RunFolderError as error:
            raise ControlPlaneError(str(error)) from error
        if (room := free_mb(run.root)) < ROOM_MB:
            raise ControlPlaneError(
                f"the disk of {run.root} has {room} MB left, and a rehearsal takes up to {ROOM_MB}: make room there"
            )
        options = ["--run", str(run.root), "--speed", str(speed), "--parts", ",".join(names)]
        with run.supervisor_log.open("ab") as log:
            supervisor = subprocess.Popen(
                [sys.executable, "-m", "rehearsal.control_plane.supervisor", *options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,  # a kept cluster must not hold the command's own open, which may be a pipe
                cwd=PROJECT,
                env=reaching_loopback(os.environ)
                | dict(environment or {})
                | {ENVIRONMENT_VARIABLE: str(run.root), "TMPDIR": str(run.temporary)},
                start_new_session=True,  # a terminal's Ctrl-C goes to the command alone, and it decides
            )
        control_plane = cls(run, supervisor)
        try:
            control_plane._await_ready(on_part_ready)
        except BaseException:
            control_plane.stop()
            raise
        return control_plane

    @property
    def kubeconfig(self) -> Path:
        """The cluster administrator's."""
        return self.run.kubeconfig

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that every other process of this rehearsal must carry in its environment, so that it ends
        with it.
        """
        return {ENVIRONMENT_VARIABLE: str(self.run.root)}

    def check(self) -> None:
        """Raises ControlPlaneError if a part has ended since the start, or the disk is full. Cheap: call it often."""
        with suppress(queue.Empty):
            while True:
                self._take(self._events.get_nowait())
        self._raise_failure()

    def keep(self) -> None:
        """Leaves the processes running when this one ends; `down()` ends them. Returns when run.json says so."""
        assert self._supervisor.stdin is not None
        self._supervisor.stdin.write(b"keep\n")
        self._supervisor.stdin.flush()
        for event in self._until(time.monotonic() + KEEP_LIMIT_S):
            if event["event"] == "kept":
                break
        self._supervisor.stdin.close()

    def stop(self) -> None:
        """Ends every process of the rehearsal, and returns when all are gone."""
        if self._supervisor.stdin is not None and not self._supervisor.stdin.closed:
            self._supervisor.stdin.close()
        self._supervisor.terminate()
        try:
            self._supervisor.wait(timeout=STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()  # the kernel kills its children with it
            self._supervisor.wait()
        if not self._refused:  # else the processes are another command's
            end(processes_of_run(self.run.root), grace_s=1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._supervisor.stdin is not None
        if not self._supervisor.stdin.closed:
            self.stop()

    def _read_events(self) -> None:
        assert self._supervisor.stdout is not None
        with self._supervisor.stdout as events:
            for line in events:
                self._events.put(json.loads(line))
        self._events.put(None)

    def _take(self, event: dict[str, Any] | None) -> None:
        if self._failure is not None:
            return  # what came first is the reason
        if event is None:
            self._failure = how_the_supervisor_ended(self._supervisor.wait(STOP_LIMIT_S), self.run.supervisor_log)
        elif event["event"] in {"failed", "part-died", "refused"}:
            self._refused = event["event"] == "refused"
            self._failure = str(event["error"])

    def _raise_failure(self) -> None:
        if not free_mb(self.run.root):  # parts die of it, or try again for ever
            raise ControlPlaneError(f"the disk of {self.run.root} is full: make room there")
        if self._failure is not None:
            raise ControlPlaneError(self._failure)

    def _await_ready(self, on_part_ready: Callable[[str, float], None] | None) -> None:
        for event in self._until(time.monotonic() + START_LIMIT_S):
            self._raise_failure()
            if event["event"] == "part-ready" and on_part_ready is not None:
                on_part_ready(event["part"], event["after_s"])
            if event["event"] == "ready":
                return

    def _until(self, deadline: float) -> Iterator[dict[str, Any]]:
        while True:
            try:
                event = self._events.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise ControlPlaneError(
                    f"the supervisor did not report within its time; logs are in {self.run.logs}"
                ) from None
            self._take(event)
            if event is None:
                raise ControlPlaneError(self._failure)
            yield event


def how_the_supervisor_ended(status: int, log: Path) -> str:
    """The words on a supervisor that ended by itself. status: as subprocess has it, negative for a signal."""
    what = "the process that watches over this rehearsal"
    if status == -signal.SIGKILL:
        return f"{what} was killed (SIGKILL), by a person or because the memory of this computer was full: start again"
    how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with exit status {status}"
    words = log.exists() and log.stat().st_size > 0
    return f"{what} {how}" + (f"; its last words are in {log}" if words else ": start again")


def free_mb(folder: Path) -> int:
    """Megabytes that are left at the place of a folder that exists, or would."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    return shutil.disk_usage(there).free >> 20


def down(folder: Path | str) -> list[str]:
    """Ends everything that runs for a run folder, however it came to be left. Returns the names of what was ended."""
    return sorted(name for run in RunFolder.at(folder).clusters() for name in _end_one(run))


def _end_one(run: RunFolder) -> list[str]:
    processes = processes_of_run(run.root)
    names = [_name(process) for process in processes]
    supervisor = run.read_run_json().get("supervisor")
    end([process for process in processes if process.pid == supervisor], grace_s=STOP_LIMIT_S)
    end(processes_of_run(run.root), grace_s=5.0)
    return [name for name in names if name is not None]


def _name(process: psutil.Process) -> str | None:
    try:
        return str(process.name())
    except psutil.Error:
        return None
