"""The tables of docs/measurements.md about pools and machines."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from benchmark.program import Cost as ProgramCost
from benchmark.scale.engine import Cost as EngineCost
from benchmark.scale.machines import Cost as MachineCost
from rehearsal.tools.paths import PROJECT

DOCUMENT: Final = PROJECT / "docs" / "measurements.md"
_POOLS: Final = (
    "pools",
    "resources in the state",
    "state, KB a further pool",
    "program alone, CPU-s",
    "program alone, MiB",
    "first `preview`, s",
    "`preview` without a change, s",
    "`up` without a change, s",
)
_MACHINES: Final = ("machines", "minutes", "CPU-s", "CPU-s a machine", "MiB", "most of it")
_MOST_PARTS: Final = 4


def pool_rows(programs: Sequence[ProgramCost], engines: Sequence[EngineCost]) -> list[list[str]]:
    """A row for each number of pools; seconds of the clock, and those of the processor in parentheses."""
    first = engines[0]
    rows = []
    for alone, cost in zip(programs, engines, strict=True):
        further = cost.pools - first.pools
        state = f"{(cost.state_bytes - first.state_bytes) / further / 1000:.0f}" if further else "–"
        commands = [f"{usage.seconds:.0f} ({usage.cpu_seconds:.0f})" for usage in (cost.new, cost.preview, cost.up)]
        row = [str(cost.pools), str(cost.resources), state, f"{alone.seconds:.1f}", f"{alone.mebibytes:.0f}", *commands]
        rows.append(row)
    return rows


def machine_row(cost: MachineCost) -> list[str]:
    """The row of a number of machines."""
    usage = cost.usage
    parts = [f"{name} {seconds:.0f}" for name, seconds in list(cost.parts.items())[:_MOST_PARTS]]
    each = usage.cpu_seconds / cost.machines
    figures = (f"{usage.seconds / 60:.0f}", f"{usage.cpu_seconds:.0f}", f"{each:.1f}", f"{usage.mebibytes:.0f}")
    return [str(cost.machines), *figures, ", ".join(parts)]


def rendered(page: str, table: str, rows: Iterable[Sequence[str]]) -> str:
    """The page with one of its tables made again."""
    head = {"pools": _POOLS, "machines": _MACHINES}[table]
    lines = [_line(head), _line(["---"] * len(head)), *map(_line, rows)]
    begin, end = f"<!-- {table} -->", f"<!-- end {table} -->"
    return re.sub(f"{begin}.*?{end}", lambda _: "\n".join([begin, *lines, end]), page, flags=re.DOTALL)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
