"""A person's view of a rehearsal."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.validation.reports import severity
from rich.console import Console

from rehearsal.engine.events import Diagnostic, Step
from rehearsal.outcome.failure import print_failure
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.reports import Known
from rehearsal.outcome.summary import Since, print_summary
from rehearsal.outcome.tables import checks_table, passed_line

URN = "urn:pulumi:dev::aks-infiniband::kubernetes:helm.sh/v3:Release::network-operator"


def text_of(renderable: object) -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(renderable)
    return console.export_text()


def check(verdict: str, **place: str) -> dict[str, Any]:
    return {"check": "rate", "expected": "400 Gb/s", "measured": "400 Gb/s", "verdict": verdict, **place}


def places(nodes: int, devices: int) -> list[dict[str, str]]:
    return [{"node": f"node-{node}", "device": f"mlx5_{device}"} for node in range(nodes) for device in range(devices)]


def test_what_did_not_pass_is_named_by_node_and_device_the_worst_first() -> None:
    checks = [
        *(check("pass", **place) for place in places(2, 8)),
        {**check("warn", node="node-0", device="mlx5_1"), "measured": "390 Gb/s"},
        {**check("fail", node="node-1", device="mlx5_3"), "measured": "200 Gb/s"},
    ]
    table = checks_table("ndh100", {"checks": checks}, width=120)
    assert table.row_count == 2
    failed, warned = (line for line in text_of(table).splitlines() if "node-" in line)
    assert "node-1 mlx5_3" in failed
    assert "200 Gb/s" in failed
    assert "node-0 mlx5_1" in warned


def test_a_rehearsal_ranks_checks_as_the_validation_does() -> None:
    cases = [("not judged", None), ("warn", "slow"), ("not measured", None), ("not measured", "gone"), ("fail", "down")]
    checks: list[Any] = [{**check(verdict), "check": f"{verdict}, {cause}", "cause": cause} for verdict, cause in cases]
    table = checks_table("ndh100", {"checks": checks}, width=160)
    assert [str(cell) for cell in table.columns[0].cells] == [found["check"] for found in sorted(checks, key=severity)]


def test_what_passed_takes_one_line_a_pool_and_a_row_a_check_where_asked_for() -> None:
    report = {"checks": [check("pass", **place) for place in places(2, 8)]}
    assert passed_line(report) == "passed: 1 kinds of check, 16 in all (2 nodes, 16 devices)"
    assert checks_table("ndh100", report, width=120).row_count == 0
    every = checks_table("ndh100", report, width=120, every=True)
    assert every.row_count == 1
    assert "2 nodes, 16 devices" in text_of(every)


def test_figures_and_the_way_that_nccl_takes_are_shown_though_they_passed() -> None:
    bandwidth = {
        **check("pass"),
        "check": "rdma-write-bandwidth",
        "measured": 393.1,
        "unit": "Gb/s",
        "threshold": {"x": 1},
    }
    transport = {**check("pass"), "check": "collective-transport", "measured": "InfiniBand with GPUDirect RDMA"}
    table = checks_table("ndh100", {"checks": [check("pass"), bandwidth, transport]}, width=120)
    assert [str(cell) for cell in table.columns[0].cells] == ["rdma-write-bandwidth", "collective-transport"]
    assert "393.1 Gb/s" in text_of(table)


@pytest.mark.parametrize("verdict", ["fail", "not measured"])
@pytest.mark.parametrize("name", ["hca-rate", "rdma-ping-pong-throughput"])
def test_at_80_columns_no_cell_is_longer_than_four_lines_and_the_names_of_nodes_are_whole(
    name: str, verdict: str
) -> None:
    node = "aks-nd-12345678-vmss000000"
    limits = ", ".join(f"port_counter_number_{number} by at most {number}" for number in range(7))
    failed = {"check": name, "node": node, "device": "mlx5_ib0", "expected": limits, "measured": limits}
    console = Console(width=80, record=True, file=StringIO())
    console.print(checks_table("ndh100", {"checks": [{**failed, "verdict": verdict}]}, width=80))
    lines = console.export_text().splitlines()
    rows = lines[next(index for index, line in enumerate(lines) if "──" in line) + 1 :]
    assert max(map(len, lines)) <= 80
    assert len(rows) == 4
    assert "…" in rows[-1]
    assert sum(node in row for row in rows) == 1


def test_a_step_that_failed_is_said_at_once_with_its_kind_and_name() -> None:
    console = Console(width=160, record=True, file=StringIO())
    Progress(console=console).show(Step(urn=URN, operation="create", begun=0.0, ended=3.21, custom=True, failed=True))
    assert "failed  Release network-operator after 3.2 s" in console.export_text()


def test_an_error_is_told_with_its_first_line_at_once_and_kept_for_the_end() -> None:
    console = Console(width=160, record=True, file=StringIO())
    progress = Progress(console=console)
    error = Diagnostic(severity="error", message="no [bold] quota\nask for more")
    progress.show(error)
    assert console.export_text() == "      no [bold] quota …\n"
    assert progress.errors == [error]


def test_a_warning_is_shown_line_by_line_without_markup() -> None:
    console = Console(width=160, record=True, file=StringIO())
    Progress(console=console).show(Diagnostic(severity="warning", message="no [bold] quota\nask for more"))
    assert "no [bold] quota\n      ask for more" in console.export_text()


def test_a_failure_ends_with_its_cause_and_the_next_command() -> None:
    console = Console(width=80, soft_wrap=True, record=True, file=StringIO())
    cause = Diagnostic(severity="error", message="no [bold] quota\nask for more", urn=URN)
    errors = [cause, cause, Diagnostic(severity="error", message="update failed")]
    print_failure(console, errors, logs=Path("/run/logs"), command="make rehearse STACK=dev")
    assert console.export_text().splitlines() == [
        "The rehearsal failed.",
        "Release network-operator:",
        "no [bold] quota",
        "ask for more",
        "Each part has a log in /run/logs",
        "Next, once the cause is fixed, or to look around in the cluster as it failed:",
        "  make rehearse STACK=dev",
    ]


def test_a_machine_that_sleeps_for_an_hour_is_noticed_by_the_time_of_day_and_named_beside_the_failure() -> None:
    console = Console(width=200, record=True, file=StringIO())
    day = iter([1000.0, 1000.2, 1001.0, 4600.0, 4600.2])  # the other clock stands still, as it does in a sleep
    progress = Progress(console=console, clock=lambda: next(day))
    for _ in range(5):
        progress.show(None)
    slept = "This machine slept for 60 min, so a wait, a login or a Job's time may have run out"
    assert console.export_text(clear=False).count(slept) == 1
    print_failure(console, [], logs=Path("/run"), command="x", slept_seconds=progress.slept_seconds)
    assert f"{slept}; the command below may be all it takes" in console.export_text()


def test_a_machine_that_is_merely_busy_has_not_slept() -> None:
    console = Console(width=200, record=True, file=StringIO())
    day = iter([1000.0, 1060.0, 1180.0])
    progress = Progress(console=console, clock=lambda: next(day))
    for _ in range(3):
        progress.show(None)
    print_failure(console, [], logs=Path("/run"), command="x", slept_seconds=progress.slept_seconds)
    assert "slept" not in console.export_text()


def test_what_the_program_explains_comes_after_what_a_provider_says() -> None:
    console = Console(width=80, soft_wrap=True, record=True, file=StringIO())
    explained = Diagnostic(severity="error", message="the link is down; next: look at it")
    errors = [explained, Diagnostic(severity="error", message="Job failed", urn=URN)]
    print_failure(console, errors, logs=Path("/run"), command="x")
    text = console.export_text()
    assert text.index("Job failed") < text.index("the link is down")


def test_where_the_engine_says_no_more_than_that_it_failed_that_is_the_cause() -> None:
    console = Console(width=80, soft_wrap=True, record=True, file=StringIO())
    print_failure(console, [Diagnostic(severity="error", message="update failed")], logs=Path("/run"), command="x")
    assert "update failed" in console.export_text()


def test_the_plan_of_a_preview_is_not_taken_for_work_done() -> None:
    progress = Progress(console=Console(quiet=True))
    progress.show(Step(urn=URN, operation="create", begun=0.0, ended=0.0, custom=True))
    progress.forget_plan()
    assert progress.steps == []


def test_the_summary_ends_with_each_pools_verdict_and_coverage() -> None:
    console = Console(width=200, record=True, file=StringIO())
    report = {"checks": [], "verdict": "not measured", "coverage": {"summary": "0 of 2 nodes"}}
    pool = {
        "vmSize": "Standard_ND96isr_H100_v5",
        "nodeCount": 2,
        "rdmaResource": "rdma/shared_ib",
        "validation": report,
    }
    print_summary(console, [], {"pools": {"ndh100": pool}}, Known(measured={"ndh100": report}), since=Since())
    assert (
        "ndh100: not measured · 2 × Standard_ND96isr_H100_v5 · rdma/shared_ib · 0 of 2 nodes" in console.export_text()
    )


def test_a_stack_that_failed_before_it_had_outputs_still_has_its_steps_listed() -> None:
    console = Console(width=160, record=True, file=StringIO())
    print_summary(
        console, [Step(urn=URN, operation="create", begun=0.0, ended=1.0, custom=True)], {}, Known(), since=Since()
    )
    assert "network-operator" in console.export_text()
