"""`make bench`: compute what deployments take at least, time them on the simulated cloud, write both down."""

import argparse
import json
import multiprocessing
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from benchmark.makespan.benchmark_page import (
    DOCUMENT,
    PLOT,
    TIMED,
    draw,
    least,
    timed_file,
    with_least,
    with_validation,
)
from benchmark.makespan.deployments import STACKS, Case, cases
from benchmark.makespan.timing import Timing, timed

RESULTS: Final = Path(__file__).with_name("results.json")
"""Every timing of the last run. benchmark/results/timed.yaml has the medians, so git ignores this file."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m benchmark.makespan", description=__doc__)
    parser.add_argument("--repetitions", type=int, default=3, help="of each deployment; 0 times none")
    parser.add_argument("--stacks", nargs="+", default=STACKS, choices=STACKS, help="those that are timed")
    parser.add_argument("--speed", type=float, default=4.0, help="simulated seconds in a real one")
    parser.add_argument("--parallel", type=int, default=3, help="deployments at the same time")
    chosen = parser.parse_args(arguments)
    rows = list(least())
    draw(rows, PLOT)
    DOCUMENT.write_text(with_validation(with_least(DOCUMENT.read_text(), rows)))
    if chosen.repetitions:
        wanted = [case for _ in range(chosen.repetitions) for case in cases() if case.stack in chosen.stacks]
        timings: list[Timing] = []
        for timing in run(wanted, speed=chosen.speed, parallel=chosen.parallel):
            timings.append(timing)
            RESULTS.write_text(json.dumps(_document(chosen, timings), indent=1) + "\n")
        TIMED.write_text(timed_file(json.loads(RESULTS.read_text())))


def run(wanted: Iterable[Case], *, speed: float, parallel: int) -> Iterator[Timing]:
    """Time deployments, some side by side: nearly all of the time they wait. Raises DeploymentError."""
    with ProcessPoolExecutor(parallel, mp_context=multiprocessing.get_context("spawn")) as workers:
        try:
            for done in as_completed([workers.submit(timed, case, speed=speed) for case in wanted]):
                timing = done.result()
                parts = f"{timing.measuring_s:3.0f} s measuring, {timing.engine_s:3.0f} s the engine's"
                print(f"{timing.makespan_s:6.0f} s, {parts}: {timing.case}", flush=True)
                yield timing
        finally:
            workers.shutdown(cancel_futures=True)  # after a failure none is begun any more


def _document(chosen: argparse.Namespace, timings: Sequence[Timing]) -> dict[str, Any]:
    return {
        "processor": _processor(),
        "threads": os.cpu_count(),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[2], 1),
        **{key: getattr(chosen, key) for key in ("speed", "parallel", "repetitions")},
        "timings": [asdict(timing) for timing in timings],
    }


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


if __name__ == "__main__":
    main()
