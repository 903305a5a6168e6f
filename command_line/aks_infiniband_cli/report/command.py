"""The commands report and timeline.

Their imports take seconds, or are an extra: they are made when the commands run.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from aks_infiniband.terminal import one_line
from aks_infiniband.validation.reports import Report

from aks_infiniband_cli.console import Answer, Command, CommandError, at_work, exit_code_of, uncut
from aks_infiniband_cli.documents import content_of, json_file, name_of, named, require_new
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of
from aks_infiniband_cli.machine_by_machine.replace.case import shown
from aks_infiniband_cli.report.machines import line
from aks_infiniband_cli.test_results.cases import suite
from aks_infiniband_cli.test_results.files import declare_test_results, named_test_results, write_test_results

if TYPE_CHECKING:
    from aks_infiniband_cli.machine_by_machine.replace.case import Case
    from aks_infiniband_cli.report.sources import Reports


def declare_report(report: argparse.ArgumentParser) -> None:
    """Add the flags of `report`."""
    source = report.add_mutually_exclusive_group()
    source.add_argument("--state", metavar="FILE", help="what `pulumi stack export` prints; - is stdin")
    kept = "what `aks-infiniband validate` has kept with --out; - is stdin"
    source.add_argument("--report", metavar="FILE", help=kept)
    declare_cluster(report, source)
    declare_namespace(report)
    report.add_argument("--out", type=Path, metavar="FOLDER", help="folder for the page and the plots")
    declare_test_results(report)


def report(flags: argparse.Namespace) -> Answer:
    """Make the page of reports, and the files of test results.

    The exit code is FOUND if a pool, or a machine since, fails or warns, else UNMEASURED if one was not measured.
    """
    results = named_test_results(flags)
    if flags.out is None and not results:
        raise CommandError("it is not said what to make: give --out FOLDER, --junit FILE or --ctrf FILE")
    require_new(results)
    with at_work("Reading the reports and drawing"):
        from aks_infiniband_cli.report import sources  # noqa: PLC0415

        replaced, machines = [], list[dict[str, Any]]()
        if flags.state is not None:
            reports = sources.from_state(content_of(flags.state), name_of(flags.state))
        elif flags.report is not None:
            reports = sources.from_file(content_of(flags.report), name_of(flags.report))
        else:
            kubeconfig = kubeconfig_of(flags).kubeconfig
            reports = sources.from_cluster(kubeconfig, namespace=flags.namespace)
            replaced = sources.replaced_in(kubeconfig, namespace=flags.namespace)
            machines = sources.machines_in(kubeconfig, namespace=flags.namespace)
        files = [*_page(flags.out, reports, replaced, machines), *map(str, results.values())]
        suites = [
            suite(name, pool["verdict"], [sources.told(pool)], cast("Report", pool), _of(name, machines))
            for name, pool in reports.items()
        ]
        write_test_results(suites, results)
        told = [
            *(text for name, pool in reports.items() for text in _told(sources.told(pool), name, machines)),
            *(one_line(case.told()) for case in replaced),
        ]
    verdicts = {name: pool["verdict"] for name, pool in reports.items()}
    return Answer(
        document={
            "verdicts": verdicts,
            "measured_on": {name: pool.get("finished") or None for name, pool in reports.items()},
            "replaced": [shown(case) for case in replaced],
            "machines": machines,
            "files": files,
        },
        lines=[*map(uncut, [*told, *files])],
        exit_code=exit_code_of([*verdicts.values(), *(machine["verdict"] for machine in machines)]),
    )


def _page(
    out: Path | None, reports: "Reports", replaced: "Sequence[Case]", machines: Sequence[Mapping[str, Any]]
) -> list[str]:
    """The files of the page, if it is wanted: drawing it takes the extra."""
    if out is None:
        return []
    from aks_infiniband_cli.report.files import write  # noqa: PLC0415

    return [str(path) for path in write(reports, out, replaced, machines)]


def _of(pool: str, machines: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [machine for machine in machines if machine["pool"] == pool]


def _told(headline: str, pool: str, machines: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A pool's verdict, and what is known of its machines since."""
    yield headline
    yield from (line(machine) for machine in _of(pool, machines))


def declare_timeline(timeline: argparse.ArgumentParser) -> None:
    """Add the flags of `timeline`."""
    source = timeline.add_mutually_exclusive_group(required=True)
    source.add_argument("--events", type=Path, metavar="FILE", help="what `pulumi up --event-log up.jsonl` wrote")
    source.add_argument("--result", type=Path, metavar="FILE", help="the result.json of a rehearsal")
    timeline.add_argument("--state", type=Path, required=True, metavar="FILE", help="what `pulumi stack export` prints")
    timeline.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="folder for the files")


def timeline(flags: argparse.Namespace) -> Answer:
    """Draw an update."""
    with at_work("Drawing"):
        from aks_infiniband_cli.report import timeline, timeline_page  # noqa: PLC0415

        with named(flags.state):
            state = json_file(flags.state)
            timeline.check(state)
        with named(flags.result or flags.events):
            if flags.result is not None:
                spans = timeline.from_result(json_file(flags.result), state)
            else:
                spans = timeline.from_engine(content_of(flags.events).splitlines(), state)
        page, png = timeline_page.html(spans, "Timeline of the update")
        flags.out.mkdir(parents=True, exist_ok=True)
        files = [flags.out / "timeline.html", flags.out / "timeline.png"]
        files[0].write_text(page, encoding="utf-8")
        files[1].write_bytes(png)
    names = [str(path) for path in files]
    chain = [
        {"name": link.name, "start_s": link.start, "end_s": link.end, "waited": link.waited}
        for link in timeline.longest_chain(spans)
    ]
    return Answer(
        document={"chain": chain, "seconds": max(span.end for span in spans), "files": names},
        lines=[*map(uncut, [timeline.table(spans), *names])],
    )


REPORT: Final = Command(
    name="report",
    help="make a page of what the validations measured",
    description=(
        "Makes report.html, and each plot as PNG, of the reports of a stack's pools, or writes their checks as test "
        "cases. The page needs the extra; test cases do not."
    ),
    example="pulumi stack export | aks-infiniband report --state - --out report",
    declare=declare_report,
    run=report,
    extra="report",
)
TIMELINE: Final = Command(
    name="timeline",
    help="draw what an update did when, and the chain that made it as long as it was",
    description="Makes timeline.html and timeline.png of an update, and prints the longest links of its chain.",
    example="pulumi stack export > state.json; aks-infiniband timeline --events up.jsonl --state state.json --out .",
    declare=declare_timeline,
    run=timeline,
    extra="report",
)
