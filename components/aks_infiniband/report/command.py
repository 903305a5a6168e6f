"""The command `aks-infiniband`: report and timeline."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from aks_infiniband.report.sources import NoReportsError, Reports, from_cluster, from_outputs
from aks_infiniband.report.timeline import NoTimelineError, Span, from_engine, from_result, table

_NOT_PASSED = 1
_NOT_MADE = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code: 0 for a page, of a report only where every pool passes, else 1; 2 for
    no page.
    """
    parser = argparse.ArgumentParser(prog="aks-infiniband")
    commands = parser.add_subparsers(dest="command", required=True)
    _add_report(commands)
    _add_timeline(commands)
    given = parser.parse_args(arguments)
    try:
        return int(given.run(given))
    except (NoReportsError, NoTimelineError, OSError, ValueError) as error:
        print(f"aks-infiniband {given.command}: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"aks-infiniband {given.command}: {error}: pip install 'aks-infiniband[report]'", file=sys.stderr)
    return _NOT_MADE


def _add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
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
    report.set_defaults(run=_report)


def _add_timeline(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    timeline = commands.add_parser(
        "timeline",
        help="draw what an update did when, and the chain that made it as long as it was",
        description="Makes timeline.html and timeline.png of an update, and prints the longest links of its chain.",
        epilog="pulumi stack export > state.json; aks-infiniband timeline --events up.jsonl --state state.json --out .",
    )
    source = timeline.add_mutually_exclusive_group(required=True)
    source.add_argument("--events", type=Path, metavar="FILE", help="what `pulumi up --event-log FILE` wrote")
    source.add_argument("--result", type=Path, metavar="FILE", help="the result.json of a rehearsal")
    timeline.add_argument("--state", type=Path, required=True, metavar="FILE", help="what `pulumi stack export` prints")
    timeline.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the files go")
    timeline.set_defaults(run=_timeline)


def _report(given: argparse.Namespace) -> int:
    found = _reports(given)
    print("\n".join(str(path) for path in write(found, given.out)))
    return 0 if all(report["verdict"] == "pass" for report in found.values()) else _NOT_PASSED


def _timeline(given: argparse.Namespace) -> int:
    from aks_infiniband.report import timeline_page  # noqa: PLC0415 so that what is missing is said with its remedy

    spans = _spans(given)
    page, png = timeline_page.html(spans, "What the update did when")
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "timeline.html").write_text(page, encoding="utf-8")
    (given.out / "timeline.png").write_bytes(png)
    print(f"{table(spans)}\n{given.out / 'timeline.html'}\n{given.out / 'timeline.png'}")
    return 0


def _spans(given: argparse.Namespace) -> list[Span]:
    state = json.loads(given.state.read_text(encoding="utf-8"))
    if given.result is not None:
        return from_result(json.loads(given.result.read_text(encoding="utf-8")), state)
    return from_engine(given.events.read_text(encoding="utf-8").splitlines(), state)


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
