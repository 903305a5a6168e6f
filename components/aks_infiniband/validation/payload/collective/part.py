"""One pod's part of a pool's all-reduce: it starts one process per GPU, watches them, and reads their results.

The pods start theirs at the same time and name the same meeting point; nothing else passes between the launchers. A
process that dies takes the others of its node with it after a moment, and those of other nodes by NCCL's own watchdog,
so that nothing outlives the time limit and the process that died is named.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..programs.process import Ended, Running
from ..say.expectations import CollectivePlan
from ..talk.steps import Members, Step
from .failures import explained
from .nccl import unique_id
from .nccl_log import warnings_of
from .results import NodeRun, Rank, node_entry

_INFINIBAND_ALONE = {"NCCL_MNNVL_ENABLE": "0"}
"""NVLink between machines of GB200 and GB300 would hide what InfiniBand carries (kubernetes-sigs/dranet, GB300
README)."""

TUNINGS: Mapping[str, Mapping[str, str]] = {
    # By the ring algorithm every byte crosses the network 2(n-1)/n times, as bus bandwidth assumes. Trees and SHARP
    # move fewer and come out above line rate on two nodes (NVIDIA/nccl-tests issue 196).
    "ring": {"NCCL_ALGO": "Ring", **_INFINIBAND_ALONE},
    "nccl": {**_INFINIBAND_ALONE},
    "pair": {"NCCL_ALGO": "Ring", **_INFINIBAND_ALONE},
    # The published figures of NVLink between machines are for NCCL's own choice (facts/baselines/published.yaml).
    "nvlink": {"NCCL_MNNVL_ENABLE": "1"},
}
"""The environment of each tuning: the ring, which is judged, NCCL's own choice for comparison, that of pairs, and that
of an NVLink domain."""

_AS_LAUNCHED_ALONE = {"NCCL_GRAPH_REGISTER": "0"}
"""Repetitions are launched as a graph, for which NCCL would register their memory; what is published was measured
without (nccl-tests launches one by one)."""

_DROPPED = ("NCCL_ALGO", "NCCL_NET", "NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS")
"""Variables that are not taken from the pod's environment. The tuning decides the algorithm. With NCCL_NET=IB a
fall-back to sockets would be an error without a reason, not a transport that the check can name.
"""

START_SECONDS = 180.0
"""Seconds that a rank has in addition to the plan's: for loading libraries, meeting and connecting."""


class Place(NamedTuple):
    """The pod's place among those that measure, and their meeting point."""

    node: str
    node_rank: int
    node_count: int
    ranks_per_node: int
    meeting: str
    """The meeting point of the run's ranks: see meeting_point."""
    hcas: tuple[str, ...]
    """The names of this node's InfiniBand devices, the only ones that NCCL is to use."""


def meeting_point() -> str:
    """The meeting point of one run's ranks: the pod of node rank 0 makes it and passes it to the others.

    The point is a unique id of NCCL, for which this process listens. The id is empty if NCCL gives none; then no rank
    gets one, and each rank says why.
    """
    try:
        return unique_id()
    except (OSError, RuntimeError):
        return ""


def measure(
    place: Place, *, tuning: str, plan: CollectivePlan, folder: Path, environment: Mapping[str, str]
) -> NodeRun:
    """Run this node's ranks to their end; returns an entry for each rank, failed or not.

    tuning: a key of TUNINGS. plan: sizes (bytes), iterations, warmup, seconds (limit of the
    sweep), size_seconds (limit of one size), operation_seconds (how long one all-reduce may take). folder: for scratch
    files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"collective-{tuning}-", dir=folder))
    plan_file = work / "plan.json"
    plan_file.write_text(json.dumps(plan), encoding="utf-8")
    started = time.monotonic()
    ranks: list[Started] = []
    try:
        for gpu in range(place.ranks_per_node):
            own = rank_environment(place, gpu, tuning, environment)
            ranks.append(start(gpu, work / f"gpu{gpu}", plan_file, place.meeting, own))
        stopped = watch(ranks, started + START_SECONDS + plan["seconds"])
    finally:
        ended = [rank.process.kill() if rank.process.running else rank.process.wait(0) for rank in ranks]
    return node_entry(
        place.node,
        place.node_rank,
        tuning,
        ranks=[entry_of(rank, end, stopped.get(rank.rank)) for rank, end in zip(ranks, ended)],
        logs=[rank.log() for rank in ranks],
        seconds=time.monotonic() - started,
    )


def carry_out(step: Step, members: Members, node: str, *, folder: Path, environment: Mapping[str, str]) -> NodeRun:
    """Do this node's part of a step. folder: for scratch files. environment: the pod's own."""
    names, plan = list(members), step["plan"]
    place = Place(
        node=node,
        node_rank=names.index(node),
        node_count=len(names),
        ranks_per_node=plan["ranks_per_node"],
        meeting=step["meeting"],
        hcas=tuple(members[node]["devices"]),
    )
    return measure(place, tuning=step["collective"], plan=plan, folder=folder, environment=environment)


def rank_environment(place: Place, gpu: int, tuning: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The pod's environment and what one rank needs: who it is, the tuning, and the file for NCCL's log."""
    kept = {name: value for name, value in environment.items() if name not in _DROPPED}
    return {
        **_AS_LAUNCHED_ALONE,
        **kept,
        "RANK": str(place.node_rank * place.ranks_per_node + gpu),
        "WORLD_SIZE": str(place.node_count * place.ranks_per_node),
        "LOCAL_RANK": str(gpu),
        "LOCAL_WORLD_SIZE": str(place.ranks_per_node),
        "NCCL_IB_HCA": f"={','.join(place.hcas)}",
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT,ENV,NET,P2P,SHM,NVLS",
        **TUNINGS[tuning],
    }


GRACE_SECONDS = 10.0
"""Time for the other ranks of a node to continue when a rank has failed: their output often says why."""
_POLL_SECONDS = 0.1
_OUTPUT_LINES = 20
_OUTPUT_CHARACTERS = 800


class Started(NamedTuple):
    """One rank's process, and its folder: nccl.log, result.json."""

    process: Running
    gpu: int
    rank: int
    folder: Path

    def log(self) -> str:
        """NCCL's log; nothing if it left none."""
        with contextlib.suppress(OSError):
            return (self.folder / "nccl.log").read_text(encoding="utf-8", errors="replace")
        return ""


def start(gpu: int, folder: Path, plan: Path, meeting: str, environment: Mapping[str, str]) -> Started:
    """Start the rank of one GPU."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", f"{__package__}.rank", "--plan", str(plan)]
    command += ["--meeting", meeting, "--result", str(folder / "result.json")]
    process = Running(command, {**environment, "NCCL_DEBUG_FILE": str(folder / "nccl.log")})
    return Started(process, gpu, int(environment["RANK"]), folder)


def watch(started: Sequence[Started], deadline: float) -> dict[int, str]:
    """Wait until all have ended or their time is up; returns, by rank, why each that still runs is stopped."""
    failed_at: float | None = None
    culprit = 0
    while True:
        running = [rank.rank for rank in started if rank.process.running]
        if not running:
            return {}
        now = time.monotonic()
        failed = [rank.rank for rank in started if rank.process.failed]
        if failed and failed_at is None:
            failed_at, culprit = now, failed[0]
        if failed_at is not None and now >= failed_at + GRACE_SECONDS:
            return dict.fromkeys(running, f"stopped, because rank {culprit} of the same node had failed")
        if now >= deadline:
            return dict.fromkeys(running, "still running at the time limit: stopped")
        time.sleep(_POLL_SECONDS)


def entry_of(started: Started, ended: Ended, stopped: str | None) -> Rank:
    """The result that a rank has written, and the end of the rank: ``failure`` is None if it ended well."""
    rank: Rank = {"rank": started.rank, "gpu": started.gpu}
    with contextlib.suppress(OSError, ValueError):
        rank = json.loads((started.folder / "result.json").read_text(encoding="utf-8"))
    reason = stopped or (None if ended.code == 0 else reason_of(ended))
    rank["failure"] = None
    if reason is not None:
        warned = warnings_of(started.log().splitlines())
        told = explained(reason, own=stopped is None, output=ended.output, warned=warned)
        rank["failure"] = {**told, "output": shortened(ended.output)}
    return rank


def reason_of(ended: Ended) -> str:
    """The end of a process that did not end well."""
    code = ended.code
    if code is None:
        return str(ended.error)
    return f"ended by signal {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def shortened(output: str) -> str:
    """The end of what a process printed, short enough for a report."""
    # Frames of a C++ stack would push the reason out.
    lines = [line for line in output.splitlines() if not line.startswith("frame #")]
    return "\n".join(lines[-_OUTPUT_LINES:])[-_OUTPUT_CHARACTERS:]
