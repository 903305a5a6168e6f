"""The all-reduce of a whole pool, as one pod sees it: starts one process per GPU, watches them, reads what they leave.

The pods start theirs at the same time and name the same meeting point; nothing else passes between the launchers. A
process that dies takes the others of its node with it after a moment, and those of other nodes by NCCL's own watchdog,
so that nothing outlives the time limit and whoever died is named.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from .collective_run import evidence_of, explained, merged, node_entry

__all__ = ["TUNINGS", "Place", "free_port", "measure", "merged", "rank_environment"]

TUNINGS: Mapping[str, Mapping[str, str]] = {
    # By the ring algorithm every byte crosses the network 2(n-1)/n times, as bus bandwidth assumes. Trees and SHARP
    # move fewer and come out above line rate on two nodes (NVIDIA/nccl-tests issue 196).
    "ring": {"NCCL_ALGO": "Ring"},
    "nccl": {},
}
"""What is set for each way to measure: the one that is judged, and NCCL's own choice beside it."""

_DROPPED = ("NCCL_ALGO", "NCCL_NET", "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS")
"""Not taken from the pod: what is measured is ours to say, and with NCCL_NET=IB a fall-back to sockets, which is to be
seen and called by its name, would be an error that names nothing."""

START_SECONDS = 180.0
"""For importing PyTorch, meeting and connecting: what a rank has beside the plan's seconds."""


class Place(NamedTuple):
    """Where this pod stands among those that measure, and where they meet."""

    node: str
    node_rank: int
    node_count: int
    ranks_per_node: int
    master: str
    """Address or name of the pod of node rank 0."""
    port: int
    """A free port there: see free_port."""


def free_port() -> int:
    """A port that nobody listens on at this moment, for node rank 0 to tell the others."""
    with socket.socket() as probe:
        probe.bind(("", 0))
        port: int = probe.getsockname()[1]
        return port


def measure(
    place: Place, *, tuning: str, plan: Mapping[str, Any], folder: Path, environment: Mapping[str, str]
) -> dict[str, Any]:
    """Run this node's ranks to their end; returns what they found, with one entry for each rank, failed or not.

    tuning: a key of TUNINGS. plan: sizes (bytes), iterations, warmup, seconds (limit of the sweep), size_seconds
    (limit of one size), operation_seconds (how long one all-reduce may take). folder: for scratch files.
    """
    work = folder / f"collective-{tuning}-{place.port}"
    work.mkdir(parents=True, exist_ok=True)
    plan_file = work / "plan.json"
    plan_file.write_text(json.dumps(plan), encoding="utf-8")
    started = time.monotonic()
    processes: list[Started] = []
    try:
        for gpu in range(place.ranks_per_node):
            own = rank_environment(place, gpu, tuning, environment)
            processes.append(start(gpu, work / f"gpu{gpu}", plan_file, own))
        stopped = watch(processes, started + START_SECONDS + plan["seconds"])
    finally:
        kill(processes)
    return node_entry(
        node=place.node,
        node_rank=place.node_rank,
        tuning=tuning,
        ranks=[entry_of(process, stopped.get(process.rank)) for process in processes],
        evidence=evidence_of([process.folder for process in processes]),
        seconds=time.monotonic() - started,
    )


def rank_environment(place: Place, gpu: int, tuning: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The pod's environment with what one rank needs: PyTorch's rendezvous, the tuning, and NCCL's words in a file."""
    kept = {name: value for name, value in environment.items() if name not in _DROPPED}
    return {
        **kept,
        "RANK": str(place.node_rank * place.ranks_per_node + gpu),
        "WORLD_SIZE": str(place.node_count * place.ranks_per_node),
        "LOCAL_RANK": str(gpu),
        "LOCAL_WORLD_SIZE": str(place.ranks_per_node),
        "MASTER_ADDR": place.master,
        "MASTER_PORT": str(place.port),
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,ENV,NET,P2P,SHM,NVLS",
        **TUNINGS[tuning],
    }


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
