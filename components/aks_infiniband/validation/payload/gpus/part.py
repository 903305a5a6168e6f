"""One pod's part: a process for each GPU of its node, watched to their end, so that one that hangs is named."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..collective.failures import explained
from ..collective.part import reason_of, shortened
from ..programs.process import Ended, Running
from ..say.expectations import GpusPlan
from .load import WARMUP_SECONDS
from .results import Gpu, NodeGpus

START_SECONDS = 120.0
"""Time for loading libraries, contexts and copies: a GPU has it in addition to the seconds of its load."""
LATE_SECONDS = 20.0
"""All begin the load together, so they end it together."""
_POLL_SECONDS = 0.05
_HANGS = "the GPU hangs: dmesg | grep -i xid on the node shows the error; recreate the node"


class Place(NamedTuple):
    """A pod's place of work: its node, the kernel's files, scratch space, and its environment."""

    node: str
    sys: Path
    scratch: Path
    environment: Mapping[str, str]


def longest_seconds(plan: GpusPlan) -> float:
    """The longest duration of a node's part."""
    return START_SECONDS + WARMUP_SECONDS + plan["seconds"]


def measure(place: Place, plan: GpusPlan) -> NodeGpus:
    """Load all GPUs of this node at once; one entry for each that the plan counts, and how each ended."""
    place.scratch.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="gpus-", dir=place.scratch))
    began = time.monotonic()
    started = {number: _start(number, place, plan, work) for number in range(plan["count"])}
    _wait(list(started.values()), began + longest_seconds(plan))
    ended = {number: one.kill() if one.running else one.wait(0) for number, one in started.items()}
    gpus = [_gpu_of(number, work, end) for number, end in ended.items()]
    return {"node": place.node, "seconds": round(time.monotonic() - began, 1), "gpus": gpus}


def _wait(started: Sequence[Running], give_up: float) -> None:
    """Until all have ended, or one is so late behind the first that ended well that it hangs."""
    while any(one.running for one in started) and time.monotonic() < give_up:
        if any(not one.running and not one.failed for one in started):
            give_up = min(give_up, time.monotonic() + LATE_SECONDS)
        time.sleep(_POLL_SECONDS)


def _start(number: int, place: Place, plan: GpusPlan, work: Path) -> Running:
    command = [sys.executable, "-m", f"{__package__}.one", "--gpu", str(number), "--count", str(plan["count"])]
    command += ["--seconds", f"{plan['seconds']:g}", "--folder", str(work), "--sys", str(place.sys)]
    return Running(command, dict(place.environment))


def _gpu_of(number: int, work: Path, ended: Ended) -> Gpu:
    """The output of a process, and the reason why it did not come to its end."""
    try:
        gpu: Gpu = json.loads((work / f"{number}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        gpu = {"number": number, "index": None, "pci": None, "uuid": None, "said": []}
    gpu["problem"] = gpu["cause"] = None
    if ended.error is not None:
        lines = shortened(ended.output).strip().splitlines()
        reason = reason_of(ended)
        gpu["problem"] = lines[-1] if ended.code is not None and lines else reason
        told = explained(reason, own=ended.code is not None, output=ended.output)
        gpu["cause"] = _HANGS if ended.code is None else told["cause"]
    return gpu
