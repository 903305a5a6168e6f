"""The processes of one node's ranks: started, watched up to a time limit, killed, and what they left."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from .collective_causes import explained

GRACE_SECONDS = 10.0
"""How long the other ranks of a node may go on when one has failed: they often say why."""
_POLL_SECONDS = 0.1
_OUTPUT_LINES = 20
_OUTPUT_BYTES = 16000
_OUTPUT_CHARACTERS = 800


class Started(NamedTuple):
    """One rank's process, and its folder: output, nccl.log, result.json."""

    process: subprocess.Popen[bytes]
    gpu: int
    rank: int
    folder: Path


def start(gpu: int, folder: Path, plan: Path, environment: Mapping[str, str]) -> Started:
    """Start the rank of one GPU."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.collective_rank", "--plan", str(plan)]
    command += ["--result", str(folder / "result.json")]
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**environment, "NCCL_DEBUG_FILE": str(folder / "nccl.log")},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Started(process, gpu, int(environment["RANK"]), folder)


def watch(processes: Sequence[Started], deadline: float) -> dict[int, str]:
    """Wait for all to end, or for the moment when the rest must; says why, by rank, of those that did not end."""
    failed_at: float | None = None
    culprit = 0
    while True:
        codes = {process.rank: process.process.poll() for process in processes}
        running = [rank for rank, code in codes.items() if code is None]
        if not running:
            return {}
        now = time.monotonic()
        failed = [rank for rank, code in codes.items() if code]
        if failed and failed_at is None:
            failed_at, culprit = now, failed[0]
        if failed_at is not None and now >= failed_at + GRACE_SECONDS:
            return dict.fromkeys(running, f"stopped, because rank {culprit} of the same node had failed")
        if now >= deadline:
            return dict.fromkeys(running, "still running at the time limit: stopped")
        time.sleep(_POLL_SECONDS)


def kill(processes: Sequence[Started]) -> None:
    """End all that still run, with what they started."""
    for one in processes:
        if one.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(one.process.pid, signal.SIGKILL)
            one.process.wait()


def entry_of(one: Started, stopped: str | None) -> dict[str, Any]:
    """What one rank left, and how it ended: ``failure`` is None, or has reason, part, cause and output."""
    found: dict[str, Any] = {"rank": one.rank, "gpu": one.gpu}
    with contextlib.suppress(OSError, ValueError):
        found = json.loads((one.folder / "result.json").read_text(encoding="utf-8"))
    code = one.process.returncode
    reason = stopped or (None if code == 0 else _ended(code))
    if reason is None:
        return {**found, "failure": None}
    output = last_output(one.folder / "output")
    return {**found, "failure": explained({"reason": reason, "own": stopped is None, "output": output})}


def _ended(code: int) -> str:
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def last_output(path: Path) -> str:
    """The end of what a process printed, short enough for a report."""
    with path.open("rb") as file:
        _seek_back(file, _OUTPUT_BYTES)
        lines = file.read().decode(errors="replace").splitlines()
    lines = [line for line in lines if not line.startswith("frame #")]  # of a C++ stack: they push the reason out
    return "\n".join(lines[-_OUTPUT_LINES:])[-_OUTPUT_CHARACTERS:]


def _seek_back(file: IO[bytes], count: int) -> None:
    file.seek(0, os.SEEK_END)
    file.seek(max(0, file.tell() - count))
