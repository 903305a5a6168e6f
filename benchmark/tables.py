"""The tables of docs/measurements.md, from what benchmark/all_reduce.py left.

    python3 -m benchmark.tables benchmark/results/*.json

rewrites what stands between a table's two markers in the document, and nothing else of it.
"""

import argparse
import json
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "measurements.md"
RESULTS = Path(__file__).resolve().parent / "results"


def rendered(document: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """The document with every table made anew; results by the name of their file, without its ending."""
    for name, found in results.items():
        for kind, lines in _TABLES.items():
            begin, end = f"<!-- {kind} {name} -->", f"<!-- end {kind} {name} -->"
            body = "\n".join(lines(found))
            document = re.sub(
                f"{re.escape(begin)}.*?{re.escape(end)}",
                lambda _, text=f"{begin}\n{body}\n{end}": text,  # type: ignore[misc]
                document,
                flags=re.DOTALL,
            )
    return document


def read(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Results by name."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _machine(found: Mapping[str, Any]) -> list[str]:
    machine = found["machine"]
    models = sorted({line.partition(",")[0] for line in machine["gpus"]})
    driver = machine["gpus"][0].partition(", ")[2]
    hardware = f"{len(machine['gpus'])} × {', '.join(models)} of one host, every pair by NVLink (NV18); driver {driver}"
    framework = f"PyTorch {machine['torch']}, " if "torch" in machine else ""
    software = f"{framework}NCCL {machine['nccl']}, Python {machine['python']}"
    return [f"{hardware}, {software}; {machine['date']}."]


def _comparison(found: Mapping[str, Any]) -> list[str]:
    lines = ["| algorithm | message | nccl-tests | payload | off by |", _rule(5)]
    for comparison in found["comparison"]:
        for row in comparison["rows"]:
            cells = [_algorithm(comparison["tuning"]), _size(row["bytes"]), _span(row["nccl_tests"])]
            cells += [_span(row["nccl"]), f"{row['difference_percent']['nccl']:+.2f} %"]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def _span(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} ({min(values):.1f}–{max(values):.1f})"


def _sweep(found: Mapping[str, Any]) -> list[str]:
    ring, own = found["sweeps"]
    lines = [
        "| message | ring, time | ring, bus bandwidth | NCCL's choice, time | NCCL's choice, bus bandwidth |",
        _rule(5),
    ]
    for both in zip(ring["sizes"], own["sizes"], strict=True):
        cells = [_size(both[0]["bytes"])]
        for size in both:
            cells += [_time(size["seconds"]), f"{size['bus_gb_per_s']:.4g}"]
        lines.append(f"| {' | '.join(cells)} |")
    small = " and ".join(f"{run['small']['seconds'] * 1e3:.2f} ms ({_algorithm(run['tuning'])})" for run in (ring, own))
    changed = found["changed"]
    check = f"To check a sum of {_size(changed['bytes'])} takes {changed['seconds'] * 1e3:.0f} ms, and"
    check += f" {changed['seconds_here']:.1f} s where it is read back."
    facts = f"Transport: {ring['transport']}. Wrong elements: none. Ten all-reduces of 4 MiB: {small}. {check}"
    return [*lines, "", facts]


def _faults(found: Mapping[str, Any]) -> list[str]:
    sockets = found["sockets"]
    rates = ", ".join(f"{size['bus_gb_per_s']:.1f} at {_size(size['bytes'])}" for size in sockets["sizes"])
    closed = "peer-to-peer, shared memory and InfiniBand closed to NCCL"
    told = [(closed, f"{sockets['transport']}; {rates} GB/s")]
    for what, key in (("one rank more than there are GPUs", "one_too_many"), ("rank 1 killed in mid-run", "killed")):
        told += [(what, f"{said['device']}: {said['measured']} – {said['cause']}") for said in found[key]]
    changed = found["changed"]
    told.append((f"two elements of a sum of {_size(changed['bytes'])} changed", f"{changed['found']} wrong"))
    lines = ["| what was done | what the payload says |", _rule(2)]
    return [*lines, *(f"| {what} | {said.replace('|', chr(92) + '|')} |" for what, said in told)]


_TABLES = {"machine": _machine, "comparison": _comparison, "sweep": _sweep, "faults": _faults}


def _algorithm(tuning: str) -> str:
    return {"ring": "ring", "nccl": "NCCL's choice"}[tuning]


def _rule(columns: int) -> str:
    return "|" + "---|" * columns


def _size(count: int) -> str:
    for exponent, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if count >= 1 << exponent:
            return f"{count >> exponent} {unit}"
    return f"{count} B"


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the document's tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    results = read(parser.parse_args(arguments).results)
    DOCUMENT.write_text(rendered(DOCUMENT.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
