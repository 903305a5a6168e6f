"""One rank of the all-reduce: one process, one GPU, and NCCL.

Time is taken by events on the GPU's stream around all iterations of a size, and the slowest rank's counts: an
all-reduce is over when it is over everywhere. Events leave out what the host does before the first and after the last
iteration, which a wall clock counts; at 1 GiB and more the two agree within 1 % (docs/measurements.md).

The reduced values are never zeros. Values grow with each iteration, to infinity with many ranks, which neither NVLink
nor InfiniBand nor an adder minds; so the sum is checked first, at every size, on fresh numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..say.steadiness import spread_of
from .nccl import NcclRanks

if TYPE_CHECKING:  # what judges results takes long to import, and each GPU has a process
    from ..say.expectations import CollectivePlan
    from .results import Rank as RankResult

ELEMENT_BYTES = 4
"""Bytes of a float32, in which sums are made."""

_TELLING_BYTES = 1 << 20
_POOR_RATE = 1e8
"""Bytes a second: TCP over 1 Gb/s."""

_APART_SECONDS = 3e-3
"""From here on each all-reduce is timed by itself. An event between two of them keeps the second from being prepared
while the first runs: 12 µs on four H100 (2026-11-28), so 0.4 % here, and 3.6 % at 64 MiB, which takes 0.3 ms."""
_SHORT_SECONDS = 0.2
_ROUNDS = 5
"""Applies to a size whose all-reduces together take less than that."""

SMALL_BYTES = 4 << 20
SMALL_REPEATS = 10
"""1 Mi floats, ten times: the AKS InfiniBand guide distinguishes InfiniBand from IPoIB by it
(tests/expected-output.md).
"""


def elements(size_bytes: int) -> int:
    """The number of elements of a message of this size; one at the least."""
    return max(1, size_bytes // ELEMENT_BYTES)


def algorithm_bandwidth(size_bytes: int, seconds: float) -> float:
    """Message size over time, in GB/s (10**9 bytes a second)."""
    return size_bytes / seconds / 1e9


def bus_bandwidth(size_bytes: int, seconds: float, ranks: int) -> float:
    """The load of each rank's link, in GB/s: algorithm bandwidth times 2(n-1)/n (nccl-tests, PERFORMANCE.md)."""
    return algorithm_bandwidth(size_bytes, seconds) * 2 * (ranks - 1) / ranks


class Repeats(NamedTuple):
    """All-reduces of one size: some to warm up, then rounds of so many that are timed together."""

    warmup: int
    iterations: int
    rounds: int


def repeats(once_seconds: float, *, iterations: int, warmup: int, budget_seconds: float) -> Repeats:
    """The number of reductions of one size. The number is smaller if one takes so long that the budget would be
    exceeded.

    At least one warms up and three are timed. A round of short ones can fall into a moment in which the host does
    something else, so there are several rounds, and their median counts.
    """
    affordable = int(budget_seconds / once_seconds) if once_seconds > 0 else iterations + warmup
    warm = max(1, min(warmup, affordable // 4))
    timed = max(3, min(iterations, affordable - warm))
    return Repeats(warm, timed, _ROUNDS if timed * once_seconds < _SHORT_SECONDS else 1)


def foreseen_seconds(size_bytes: int, last_bytes: int, last_seconds: float) -> float:
    """About how long one all-reduce takes, from a smaller one.

    The time of a small message is all latency and shows no rate, so a poor rate is assumed.
    """
    rate = last_bytes / last_seconds if last_bytes >= _TELLING_BYTES else _POOR_RATE
    return last_seconds + (size_bytes - last_bytes) / rate


class Rank:
    """The measurements of one process. Every rank does the same steps, and rank 0 decides how many."""

    def __init__(self, ranks: NcclRanks, plan: CollectivePlan, environment: Mapping[str, str], result: Path) -> None:
        """``result`` is rewritten as it goes."""
        self._all, self._plan, self._result = ranks, plan, result
        self._rank, self._ranks = int(environment["RANK"]), int(environment["WORLD_SIZE"])
        self._deadline = time.monotonic() + plan["seconds"]
        self.found: RankResult = {
            "rank": self._rank,
            "gpu": int(environment["LOCAL_RANK"]),
            "reached_bytes": 0,
            "wrong": 0,
            "sizes": [],
            "small": None,
            "stopped": None,
            "one_by_one": None,
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
        self.found["one_by_one"] = self._all.one_by_one
        self.save()

    def save(self) -> None:
        """Leave the results so far at the launcher's path. The file is whole at any moment."""
        partial = self._result.with_suffix(".partial")
        partial.write_text(json.dumps(self.found), encoding="utf-8")
        partial.replace(self._result)

    def _time_for(self, size: int, last_size: int, last_seconds: float) -> bool:
        """True if rank 0 has time left for the least number of iterations."""
        seconds = foreseen_seconds(size, last_size, last_seconds) if last_size else 0.0
        fits = time.monotonic() + 5 * seconds < self._deadline
        if self._agreed(int(fits)) == [1]:
            return True
        self.found["stopped"] = f"{self._plan['seconds']:g} s were up before a message of {size} bytes"
        return False

    def _measure_size(self, size: int) -> float:
        """Check and time one size; returns the seconds of one all-reduce."""
        self._all.allocate(elements(size))
        self._all.fill()
        once = self._all.timed(1)[0]
        wrong = self._all.wrong()
        self.found["wrong"] = wrong + (self.found["wrong"] or 0)
        most, warmup, budget = self._plan["iterations"], self._plan["warmup"], self._plan["size_seconds"]
        warm = self._agreed(*repeats(once, iterations=most, warmup=warmup, budget_seconds=budget))[0]
        usual = self._all.timed(warm)[0] / warm  # the first one has connected, too
        asked = repeats(usual, iterations=most, warmup=warmup, budget_seconds=budget)
        _, iterations, rounds, is_long = self._agreed(*asked, int(usual >= _APART_SECONDS))
        apart = bool(is_long)
        made = [self._timed(iterations, apart=apart) for _ in range(rounds)]
        seconds = sorted(slowest for slowest, _ in made)[rounds // 2] / iterations
        each = made[0][1] if apart else [sum(own) / iterations for _, own in made]
        rates = [bus_bandwidth(size, one, self._ranks) for one in each]
        self.found["sizes"].append(
            {
                "bytes": size,
                "iterations": iterations,
                "seconds": seconds,
                "algorithm_gb_per_s": algorithm_bandwidth(size, seconds),
                "bus_gb_per_s": bus_bandwidth(size, seconds, self._ranks),
                "wrong": wrong,
                "spread": spread_of(rates) if len(rates) > 1 else None,
            }
        )
        return seconds

    def _measure_small(self) -> None:
        self._all.allocate(elements(SMALL_BYTES))
        self._all.fill()
        self._all.timed(SMALL_REPEATS)
        seconds = self._timed(SMALL_REPEATS)[0]
        self.found["small"] = {"bytes": SMALL_BYTES, "repeats": SMALL_REPEATS, "seconds": seconds}

    def _agreed(self, *numbers: int) -> list[int]:
        """Rank 0's numbers, on every rank. None may be below zero."""
        mine = numbers if self._rank == 0 else [0] * len(numbers)
        return [int(number) for number in self._all.largest(*mine)]

    def _timed(self, iterations: int, *, apart: bool = False) -> tuple[float, list[float]]:
        """Seconds of some all-reduces on the rank that took longest, and what NcclRanks.timed gave on this rank."""
        own = self._all.timed(iterations, apart=apart)
        return self._all.largest(sum(own))[0], own


def take_part(plan: CollectivePlan, environment: Mapping[str, str], *, meeting: str, result: Path) -> None:
    """Join the others, measure, and leave them. Raises whatever the library raises."""
    ranks = NcclRanks(
        rank=int(environment["RANK"]),
        ranks=int(environment["WORLD_SIZE"]),
        gpu=int(environment["LOCAL_RANK"]),
        meeting=meeting,
        limit_seconds=plan["operation_seconds"],
    )
    rank = Rank(ranks, plan, environment, result)
    rank.save()
    rank.measure()
    ranks.close()


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    parser = argparse.ArgumentParser(prog="rank", description=__doc__)
    parser.add_argument("--plan", required=True, type=Path, help="JSON: sizes, iterations, warmup and time limits")
    parser.add_argument("--meeting", required=True, help="the address at which the ranks meet, as node rank 0 says")
    parser.add_argument("--result", required=True, type=Path, help="the file for the figures, as JSON")
    arguments = parser.parse_args(argv)
    plan = json.loads(arguments.plan.read_text(encoding="utf-8"))
    try:
        take_part(plan, environment, meeting=arguments.meeting, result=arguments.result)
    except Exception:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    code = main(sys.argv[1:], os.environ)
    sys.stdout.flush()
    os._exit(code)  # a library's own farewell would wait for ranks that have gone
