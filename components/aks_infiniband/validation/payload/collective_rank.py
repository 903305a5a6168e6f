"""One rank of the all-reduce: one process, one GPU, PyTorch distributed with NCCL (on AMD GPUs the same, with RCCL).

Time is taken by events on the GPU's stream around all iterations of a size, and the slowest rank's counts: an
all-reduce is over when it is over everywhere. Events leave out what the host does before the first and after the last
iteration, which a wall clock counts; at 1 GiB and more the two agree within 1 % (docs/measurements.md).

What is reduced is never zeros. Values grow with each iteration, to infinity with many ranks, which neither NVLink nor
InfiniBand nor an adder minds; so the sum is checked first, at every size, on fresh numbers.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from .collective_run import Rank as RankResult
from .expectations import CollectivePlan

_CHUNK = 1 << 26
"""Elements filled or checked at once, so that a 16 GiB message needs little memory beside itself."""

Torch = Any
"""The module torch, which only the machines' image has, or one of its."""
Tensor = Any
"""A tensor of it."""
Positions = Any
"""A number, or a tensor of numbers."""

ELEMENT_BYTES = 4
"""Of float32, in which sums are made."""

PERIOD = 1021
"""Period of the test pattern in elements: a prime, so that a block that lands in another's place is seen."""

_TELLING_BYTES = 1 << 20
_POOR_RATE = 1e8
"""Bytes a second: TCP over 1 Gb/s."""

SMALL_BYTES = 4 << 20
SMALL_REPEATS = 10
"""1 Mi floats, ten times: the AKS InfiniBand guide tells InfiniBand from IPoIB by it (tests/expected-output.md)."""


def elements(size_bytes: int) -> int:
    """How many elements a message of this size has; one at the least."""
    return max(1, size_bytes // ELEMENT_BYTES)


def algorithm_bandwidth(size_bytes: int, seconds: float) -> float:
    """Message size over time, in GB/s (10**9 bytes a second)."""
    return size_bytes / seconds / 1e9


def bus_bandwidth(size_bytes: int, seconds: float, ranks: int) -> float:
    """What each rank's link has to carry, in GB/s: algorithm bandwidth times 2(n-1)/n (nccl-tests, PERFORMANCE.md)."""
    return algorithm_bandwidth(size_bytes, seconds) * 2 * (ranks - 1) / ranks


def own_value(position: Positions, rank: int) -> Positions:
    """What a rank holds at a position, or at each position of a tensor."""
    return position % PERIOD + rank


def expected_sum(position: Positions, ranks: int) -> Positions:
    """The sum of own_value over all ranks.

    A whole number below 2**24 for up to 4096 ranks, so float32 holds it exactly whatever the order of the additions.
    """
    return position % PERIOD * ranks + ranks * (ranks - 1) // 2


def repeats(once_seconds: float, *, iterations: int, warmup: int, budget_seconds: float) -> tuple[int, int]:
    """Warm-up and timed iterations of one size: fewer where one takes so long that the budget would be passed.

    At the least one to warm up and three to time.
    """
    affordable = int(budget_seconds / once_seconds) if once_seconds > 0 else iterations + warmup
    warm = max(1, min(warmup, affordable // 4))
    return warm, max(3, min(iterations, affordable - warm))


def foreseen_seconds(size_bytes: int, last_bytes: int, last_seconds: float) -> float:
    """About how long one all-reduce takes, from a smaller one.

    The time of a small message is all latency and tells no rate, so a poor one is assumed.
    """
    rate = last_bytes / last_seconds if last_bytes >= _TELLING_BYTES else _POOR_RATE
    return last_seconds + (size_bytes - last_bytes) / rate


class Rank:
    """What one process measures; every rank does the same steps, and rank 0 decides how many."""

    def __init__(self, torch: Torch, plan: CollectivePlan, environment: Mapping[str, str], result: Path) -> None:
        """``torch`` is the module, with its distributed package initialised; ``result`` is rewritten as it goes."""
        self._torch, self._dist, self._plan, self._result = torch, torch.distributed, plan, result
        self._rank, self._ranks = int(environment["RANK"]), int(environment["WORLD_SIZE"])
        self._device = torch.device("cuda", int(environment["LOCAL_RANK"]))
        self._deadline = time.monotonic() + plan["seconds"]
        self.found: RankResult = {
            "rank": self._rank,
            "gpu": int(environment["LOCAL_RANK"]),
            "torch": str(torch.__version__),
            "reached_bytes": 0,
            "wrong": 0,
            "sizes": [],
            "small": None,
            "stopped": None,
            "error": None,
        }

    def measure(self) -> None:
        """Every size, smallest first, until the time is up; then ten small ones."""
        last = (0, 0.0)
        for size in sorted(self._plan["sizes"]):
            if not self._time_for(size, *last):
                break
            self.found["reached_bytes"] = size
            self.save()
            last = (size, self._measure_size(size))
        self._measure_small()
        self.save()

    def save(self) -> None:
        """Leave what is known so far where the launcher looks, whole at any moment."""
        partial = self._result.with_suffix(".partial")
        partial.write_text(json.dumps(self.found), encoding="utf-8")
        partial.replace(self._result)

    def _time_for(self, size: int, last_size: int, last_seconds: float) -> bool:
        """Whether the least number of iterations fits into what time is left, as rank 0 sees it."""
        seconds = foreseen_seconds(size, last_size, last_seconds) if last_size else 0.0
        fits = time.monotonic() + 5 * seconds < self._deadline
        if self._agreed(int(fits)) == [1]:
            return True
        self.found["stopped"] = f"{self._plan['seconds']:g} s were up before a message of {size} bytes"
        return False

    def _measure_size(self, size: int) -> float:
        """Check and time one size; returns the seconds of one all-reduce."""
        buffer = self._torch.empty(elements(size), dtype=self._torch.float32, device=self._device)
        self._fill(buffer)
        once = self._timed(buffer, 1)
        wrong = self._wrong(buffer)
        self.found["wrong"] = wrong + (self.found["wrong"] or 0)
        most, warmup, budget = self._plan["iterations"], self._plan["warmup"], self._plan["size_seconds"]
        warm, iterations = self._agreed(*repeats(once, iterations=most, warmup=warmup, budget_seconds=budget))
        self._timed(buffer, warm)
        seconds = self._slowest(self._timed(buffer, iterations)) / iterations
        self.found["sizes"].append(
            {
                "bytes": size,
                "iterations": iterations,
                "seconds": seconds,
                "algorithm_gb_per_s": algorithm_bandwidth(size, seconds),
                "bus_gb_per_s": bus_bandwidth(size, seconds, self._ranks),
                "wrong": wrong,
            }
        )
        return seconds

    def _measure_small(self) -> None:
        buffer = self._torch.empty(elements(SMALL_BYTES), dtype=self._torch.float32, device=self._device)
        self._fill(buffer)
        self._timed(buffer, SMALL_REPEATS)
        seconds = self._slowest(self._timed(buffer, SMALL_REPEATS))
        self.found["small"] = {"bytes": SMALL_BYTES, "repeats": SMALL_REPEATS, "seconds": seconds}

    def _timed(self, buffer: Tensor, iterations: int) -> float:
        """Seconds of some all-reduces in a row, on this rank, all ranks having begun together."""
        cuda = self._torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self._dist.barrier(device_ids=[self._device.index])
        begin.record()
        for _ in range(iterations):
            self._dist.all_reduce(buffer)
        end.record()
        end.synchronize()
        milliseconds: float = begin.elapsed_time(end)
        return milliseconds / 1e3

    def _fill(self, buffer: Tensor) -> None:
        for part, positions in self._chunks(buffer):
            part.copy_(own_value(positions, self._rank))

    def _wrong(self, buffer: Tensor) -> int:
        """How many elements are not the sum on this rank."""
        chunks = self._chunks(buffer)
        return sum(int((part != expected_sum(positions, self._ranks)).sum().item()) for part, positions in chunks)

    def _chunks(self, buffer: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
        """The buffer piece by piece, each with its positions."""
        for start in range(0, len(buffer), _CHUNK):
            part = buffer[start : start + _CHUNK]
            yield part, self._torch.arange(start, start + len(part), device=self._device)

    def _agreed(self, *numbers: int) -> list[int]:
        """Rank 0's numbers, on every rank."""
        values = self._torch.tensor(list(numbers), dtype=self._torch.int64, device=self._device)
        self._dist.broadcast(values, src=0)
        return [int(number) for number in values.tolist()]

    def _slowest(self, seconds: float) -> float:
        values = self._torch.tensor([seconds], dtype=self._torch.float64, device=self._device)
        self._dist.all_reduce(values, op=self._dist.ReduceOp.MAX)
        return float(values.tolist()[0])


def run(plan: CollectivePlan, environment: Mapping[str, str], result: Path) -> None:
    """Join the others, measure, part. Raises whatever PyTorch raises."""
    torch: Torch = importlib.import_module("torch")  # only here: everything else of the payload does without
    dist: Torch = importlib.import_module("torch.distributed")

    torch.cuda.set_device(int(environment["LOCAL_RANK"]))
    limit = timedelta(seconds=plan["operation_seconds"])  # after which NCCL's watchdog ends a rank that waits in vain
    dist.init_process_group("nccl", init_method="env://", timeout=limit)
    rank = Rank(torch, plan, environment, result)
    rank.save()
    rank.measure()
    dist.destroy_process_group()


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    parser = argparse.ArgumentParser(prog="collective_rank", description=__doc__)
    parser.add_argument("--plan", required=True, type=Path, help="JSON: sizes, iterations, warmup and time limits")
    parser.add_argument("--result", required=True, type=Path, help="where the figures are left, as JSON")
    arguments = parser.parse_args(argv)
    plan = json.loads(arguments.plan.read_text(encoding="utf-8"))
    try:
        run(plan, environment, arguments.result)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
