"""The command `aks-infiniband report`."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from aks_infiniband.report.sources import NoReportsError, Reports, from_cluster, from_outputs

_NOT_PASSED = 1
_NOT_MADE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code: 0 where every pool passes, 1 where one does not, 2 for no page."""
    parser = argparse.ArgumentParser(prog="aks-infiniband")
    commands = parser.add_subparsers(dest="command", required=True)
    report = commands.add_parser(
        "report",
        help="make a page of what the validations measured",
        description="Makes report.html, and each plot as PNG, of the reports of a stack's pools.",
        epilog="pulumi stack output --json | aks-infiniband report --outputs - --out report",
    )
    source = report.add_mutually_exclusive_group(required=True)
    source.add_argument("--outputs", metavar="FILE", help="what `pulumi stack output --json` prints; - is stdin")
    source.add_argument("--kubeconfig", type=Path, metavar="FILE", help="a cluster whose ConfigMaps have the reports")
    report.add_argument("--context", help="of the kubeconfig; default: its current one")
    report.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the files go")
    given = parser.parse_args(arguments)
    try:
        found = _reports(given)
        written = write(found, given.out)
    except (NoReportsError, OSError) as error:
        print(f"aks-infiniband report: {error}", file=sys.stderr)
        return _NOT_MADE
    except ModuleNotFoundError as error:
        print(f"aks-infiniband report: {error}: pip install 'aks-infiniband[report]'", file=sys.stderr)
        return _NOT_MADE
    print("\n".join(str(path) for path in written))
    return 0 if all(report["verdict"] == "pass" for report in found.values()) else _NOT_PASSED


def _reports(given: argparse.Namespace) -> Reports:
    if given.kubeconfig is not None:
        return from_cluster(given.kubeconfig, given.context)
    text = sys.stdin.read() if given.outputs == "-" else Path(given.outputs).read_text(encoding="utf-8")
    return from_outputs(text)


def write(reports: Reports, folder: Path) -> list[Path]:
    """Write page and plots; returns their paths."""
    from aks_infiniband.report import page, plots  # noqa: PLC0415 so that what is missing is said with its remedy

    folder.mkdir(parents=True, exist_ok=True)
    drawn = {name: page.plots_of(report) for name, report in reports.items()}
    html = folder / "report.html"
    html.write_text(page.html(reports, drawn), encoding="utf-8")
    written = [html]
    for found in drawn.values():
        for plot in found:
            written.append(folder / f"{plot.name}.png")
            written[-1].write_bytes(plots.image(plot.figure, "png", plot.name))
    return written
