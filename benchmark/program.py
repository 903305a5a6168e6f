"""The cost of the program by the number of pools: resources that it declares, processor time, memory.

    python3 -m benchmark.program 1 10 50

runs it for so many pools of ND96isr_H100_v5 against Pulumi's mocks, each in a separate process.
"""

import argparse
import multiprocessing
import resource
import shutil
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import yaml

from declared import program

PROJECT = Path(__file__).parents[1]


class Cost(NamedTuple):
    """Cost of one run. seconds: of the processor, the start of Python included."""

    pools: int
    resources: int
    seconds: float
    mebibytes: float


def project(folder: Path, pools: int) -> Path:
    """The project in a folder, its stack `dev` with so many pools of two ND96isr_H100_v5."""
    for name in ("__main__.py", "Pulumi.yaml"):
        shutil.copy(PROJECT / name, folder)
    shutil.copytree(PROJECT / "values", folder / "values", dirs_exist_ok=True)
    stack = yaml.safe_load((PROJECT / "Pulumi.dev.yaml").read_text())
    stack["config"]["aks-infiniband:pools"] = [
        {"name": f"pool{number:03}", "vmSize": "Standard_ND96isr_H100_v5", "count": 2} for number in range(pools)
    ]
    (folder / "Pulumi.dev.yaml").write_text(yaml.safe_dump(stack))
    return folder


def cost(pools: int) -> Cost:
    """Run the program of the stack `dev`, with so many pools, in this process."""
    with tempfile.TemporaryDirectory() as temporary:
        requests = program.run(project(Path(temporary), pools), "dev")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Cost(pools, len(requests.resources), time.process_time(), peak / 1024)


def main() -> None:
    """Print a line of costs for each number of pools; each runs in a separate process, so that memory is its own."""
    parser = argparse.ArgumentParser(prog="benchmark.program", description=__doc__)
    parser.add_argument("pools", type=int, nargs="*", default=[1, 10, 50])
    context = multiprocessing.get_context("spawn")
    print(f"{'pools':>5} {'resources':>9} {'CPU-s':>6} {'MiB':>5}")
    for pools in parser.parse_args().pools:
        with context.Pool(1) as process:
            costs = process.apply(cost, (pools,))
        print(f"{costs.pools:>5} {costs.resources:>9} {costs.seconds:>6.1f} {costs.mebibytes:>5.0f}")


if __name__ == "__main__":
    main()
