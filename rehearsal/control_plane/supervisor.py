"""Starts the parts of one rehearsal, watches them, and ends them all: `python -m rehearsal.control_plane.supervisor`.

The command that started it holds the other end of its standard input. When that end closes without the line "keep",
because the command has ended or was killed, the rehearsal ends. Events are reported on standard output, one JSON object
per line ("event": part-ready, ready, kept, part-died, failed, refused), and kept in run.json.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import fcntl
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress

import psutil

from rehearsal.control_plane import parts as part_table
from rehearsal.control_plane.credentials import write_credentials
from rehearsal.control_plane.parts import Part
from rehearsal.control_plane.ports import held_ports
from rehearsal.control_plane.processes import RunningPart, adopt_orphans, end, processes_of_run
from rehearsal.control_plane.readiness import POLL_S, ask
from rehearsal.machines import stages
from rehearsal.run.arguments import speed
from rehearsal.run.commands import stop
from rehearsal.run.folder import RunFolder, write_atomically

KEEP = b"keep\n"
LEFTOVER_GRACE_S = 5.0


class PartFailedError(Exception):
    """A part that did not become ready, or that ended."""


class Supervisor:
    """One rehearsal's processes."""

    def __init__(self, run: RunFolder, *, speed: float, names: Sequence[str]) -> None:
        self.run = run
        self.speed = speed
        self.names = part_table.select(names)
        self._running: dict[str, RunningPart] = {}
        self._ports: Mapping[str, int] = {}
        self._held = ExitStack()
        self._state = "starting"
        self._error: str | None = None
        self._kept = False
        self._started = datetime.datetime.now(datetime.UTC)
        self._stop = asyncio.Event()
        self._stopping = False
        self._input = b""

    async def supervise(self) -> int:
        """Runs the rehearsal to its end. Returns the exit status: 0, or 1 when a part failed at start."""
        loop = asyncio.get_running_loop()
        adopt_orphans()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self._stop.set)
        loop.add_signal_handler(signal.SIGCHLD, self._reap)
        loop.add_reader(sys.stdin.fileno(), self._read_input)
        stopping = asyncio.create_task(self._stop.wait())
        starting = asyncio.create_task(self._start_all())
        try:
            await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                return 0
            starting.result()
            self._enter("ready")
            _say(event="ready", after_s=self._elapsed_s())
            await stopping
        except Exception as error:
            self._fail("failed", _message(error))
            return 1
        else:
            return 0
        finally:
            starting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await starting
            await self._end_all()
            self._held.close()

    async def _start_all(self) -> None:
        self.run.prepare()
        self._ports = self._held.enter_context(held_ports(part_table.PORTS))
        write_credentials(self.run, api_server_port=self._ports["kube-apiserver"])
        if "kwok" in self.names:
            write_atomically(self.run.kwok_config, stages.render(self.speed, pods="machines" not in self.names))
        table = part_table.table(self.run, ports=self._ports, speed=self.speed, names=self.names)
        self._enter("starting")
        ready = {part.name: asyncio.Event() for part in table}
        async with asyncio.TaskGroup() as group:
            for part in table:
                group.create_task(self._start(part, ready))

    async def _start(self, part: Part, ready: Mapping[str, asyncio.Event]) -> None:
        for name in part.after:
            await ready[name].wait()
        running = RunningPart.start(part, self.run)
        self._running[part.name] = running
        while True:
            answer = await ask(part.ready)
            if running.exit_status is not None:
                raise PartFailedError(f"{part.name} {running.how_it_ended()} before it was ready.{running.tail()}")
            if answer.ready:
                break
            if running.age_s() > part.time_limit_s:
                limit = f"{part.time_limit_s:g} s"
                raise PartFailedError(
                    f"{part.name} was not ready within {limit}; last seen: {answer.seen}.{running.tail()}"
                )
            await asyncio.sleep(POLL_S)
        self.run.ready_file(part.name).touch()
        running.ready_after_s = running.age_s()
        ready[part.name].set()
        self._save()
        _say(event="part-ready", part=part.name, after_s=running.ready_after_s)

    def _reap(self) -> None:
        """Collect every child that has ended: parts, and orphans of parts. Name the part that the others died of."""
        died = [running for running in self._ended() if running.ready_after_s is not None]
        if not died or self._stopping:
            return
        dead = [running for running in self._running.values() if running.exit_status is not None]
        # When a part dies, those that need it die too, and they may be collected before it. The process was started
        # before them.
        first = min(dead, key=lambda running: self.names.index(running.part.name))
        self._fail("part-died", f"{first.part.name} {first.how_it_ended()} while the rehearsal ran.{first.tail()}")

    def _ended(self) -> Iterator[RunningPart]:
        by_pid = {running.process.pid: running for running in self._running.values()}
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid in by_pid:
                by_pid[pid].has_ended(os.waitstatus_to_exitcode(status))
                yield by_pid[pid]

    def _read_input(self) -> None:
        data = os.read(sys.stdin.fileno(), 4096)
        self._input += data
        if KEEP in self._input and not self._kept:
            self._kept = True
            self._save()
            _say(event="kept")
        if not data:
            asyncio.get_running_loop().remove_reader(sys.stdin.fileno())
            if not self._kept:
                self._stop.set()

    async def _end_all(self) -> None:
        """Ends the parts, the last to start first, then whatever else of this run is still there."""
        self._stopping = True
        if self._state != "failed":
            self._enter("stopping")
        for name in reversed(self.names):
            running = self._running.get(name)
            if running is not None:
                await running.end()
        leftovers = [*psutil.Process().children(recursive=True), *processes_of_run(self.run.root)]
        end(leftovers, grace_s=LEFTOVER_GRACE_S)
        if self._state != "failed":
            self._enter("stopped")

    def _elapsed_s(self) -> float:
        return round((datetime.datetime.now(datetime.UTC) - self._started).total_seconds(), 3)

    def _enter(self, state: str) -> None:
        self._state = state
        self._save()

    def _fail(self, event: str, error: str) -> None:
        self._error = error
        self._enter("failed")
        _say(event=event, error=error)

    def _save(self) -> None:
        content = {
            "state": self._state,
            "error": self._error,
            "kept": self._kept,
            "started": self._started.isoformat(timespec="seconds"),
            "speed": self.speed,
            "supervisor": os.getpid(),
            "ports": dict(self._ports),
            "parts": {name: running.facts() for name, running in self._running.items()},
        }
        if self.run.root.is_dir():
            write_atomically(self.run.run_json, json.dumps(content, indent=2) + "\n")


def _message(error: BaseException) -> str:
    """The message about a failed start. If several parts failed together, it is about the first."""
    if isinstance(error, BaseExceptionGroup):
        return _message(error.exceptions[0])
    if isinstance(error, PartFailedError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _say(**event: object) -> None:
    """Sends an event to the command that started the rehearsal; it may be gone."""
    with suppress(OSError):
        os.write(sys.stdout.fileno(), json.dumps(event).encode() + b"\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a supervisor in the foreground."""
    parser = argparse.ArgumentParser(prog="python -m rehearsal.control_plane.supervisor", description=__doc__)
    parser.add_argument("--run", required=True, help="the run folder")
    parser.add_argument("--speed", type=speed, default=1.0, help="simulated seconds per real second")
    parser.add_argument("--parts", default=",".join(part_table.ALL_PARTS), help="which parts, with commas")
    options = parser.parse_args(arguments)
    run = RunFolder.at(options.run)
    run.claim()
    with run.lock.open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(event="refused", error=_in_use(run))
            return 2
        run.supervisor_log.write_bytes(b"")
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        return asyncio.run(Supervisor(run, speed=options.speed, names=options.parts.split(",")).supervise())


def _in_use(run: RunFolder) -> str:
    pid = run.lock.read_text(encoding="utf-8").strip() or "unknown"
    return (
        f"run folder {run.root} is in use by process {pid}: wait for that rehearsal to end, "
        f"or end it with: {stop(run.root)}"
    )


if __name__ == "__main__":
    sys.exit(main())
