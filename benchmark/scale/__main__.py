"""`python -m benchmark.scale`: measure what pools and machines cost, and write it into docs/measurements.md."""

import argparse
import multiprocessing
import tempfile
from pathlib import Path

from benchmark import program
from benchmark.scale import engine, machines
from benchmark.scale.scale_page import DOCUMENT, machine_row, pool_rows, rendered

parser = argparse.ArgumentParser(prog="benchmark.scale", description=__doc__)
parser.add_argument("--pools", type=int, nargs="*", default=[1, 10, 50], help="none: leave that table as it is")
parser.add_argument(
    "--machines", type=int, nargs="*", default=[10, 100, 300, 1000], help="none: leave that table as it is"
)


def program_costs(pools: list[int]) -> list[program.Cost]:
    """Each runs in a separate process."""
    costs = []
    for number in pools:
        with multiprocessing.get_context("spawn").Pool(1) as process:
            costs.append(process.apply(program.cost, (number,)))
    return costs


if __name__ == "__main__":
    arguments = parser.parse_args()
    # In the checkout, as a user's project: the state names for every resource the place in the program that made it, by
    # a path from the project on.
    with tempfile.TemporaryDirectory(prefix=".scale-", dir=program.PROJECT) as folder:
        if arguments.pools:
            # First: a process begins with the largest memory that the one has had which starts it.
            alone = program_costs(arguments.pools)
            rows = pool_rows(alone, list(engine.costs(arguments.pools, Path(folder))))
            DOCUMENT.write_text(rendered(DOCUMENT.read_text(), "pools", rows))
        if arguments.machines:
            rows = [machine_row(cost) for cost in machines.costs(arguments.machines, Path(folder))]
            DOCUMENT.write_text(rendered(DOCUMENT.read_text(), "machines", rows))
