"""The table of docs/measurements.md about the all-reduce, from what benchmark/all_reduce.py left.

    python3 -m benchmark.tables benchmark/results/*.json

rewrites the text between the table's two markers in the page, and nothing else.
"""

import argparse
import json
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "measurements.md"
RESULTS = Path(__file__).resolve().parent / "results"
_HEAD = "| GPUs of one host | NCCL | date | message | nccl-tests, GB/s | validation, GB/s | difference |"
_SHOWN = (1 << 20, 1 << 30, 8 << 30)
"""Messages of the table, in bytes. The results have the others too."""


def rendered(document: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """The page with the ring's rows of each result; results by the name of their file, without its ending."""
    lines = [_HEAD, "|" + "---|" * 7, *(line for timings in results.values() for line in _rows(timings))]
    text = "\n".join(["<!-- all-reduce -->", *lines, "<!-- end all-reduce -->"])
    return re.sub("<!-- all-reduce -->.*?<!-- end all-reduce -->", lambda _: text, document, flags=re.DOTALL)


def read(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Results by name."""
    return {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in files}


def _rows(results: Mapping[str, Any]) -> Iterator[str]:
    machine = results["machine"]
    models = sorted({line.partition(",")[0] for line in machine["gpus"]})
    host = [f"{len(machine['gpus'])} × {', '.join(models)}", machine["nccl"], machine["date"]]
    (ring,) = [run["rows"] for run in results["comparison"] if run["tuning"] == "ring"]
    for row in (row for row in ring if row["bytes"] in _SHOWN):
        medians = [f"{statistics.median(row[tool]):.1f}" for tool in ("nccl_tests", "nccl")]
        cells = [*host, _size(row["bytes"]), *medians, f"{row['difference_percent']['nccl']:+.2f} %"]
        yield f"| {' | '.join(cells)} |"


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >= 1 << 30 else f"{count >> 20} MiB"


def main(arguments: Sequence[str] | None = None) -> None:
    """Rewrite the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="+", type=Path)
    results = read(parser.parse_args(arguments).results)
    DOCUMENT.write_text(rendered(DOCUMENT.read_text(encoding="utf-8"), results), encoding="utf-8")


if __name__ == "__main__":
    main()
