"""What a person sees of a rehearsal."""

from io import StringIO
from typing import Any

from rich.console import Console

from rehearsal.engine.events import Diagnostic, Step
from rehearsal.outcome.progress import Progress, checks_table, print_summary

URN = "urn:pulumi:dev::aks-infiniband::kubernetes:helm.sh/v3:Release::network-operator"


def text_of(renderable: object) -> str:
    console = Console(width=160, record=True, file=StringIO())
    console.print(renderable)
    return console.export_text()


def check(verdict: str, **place: str) -> dict[str, Any]:
    return {"check": "rate", "expected": "400 Gb/s", "measured": "400 Gb/s", "verdict": verdict, **place}


def test_what_passed_everywhere_takes_one_row_and_what_failed_is_named_by_node_and_device() -> None:
    passed = [check("pass", node=f"node-{n}", device=f"mlx5_ib{d}") for n in range(2) for d in range(8)]
    failed = {**check("fail", node="node-1", device="mlx5_ib3"), "measured": "200 Gb/s"}
    table = checks_table("ndh100", {"checks": [*passed, failed]})
    assert table.row_count == 2
    text = text_of(table)
    assert "2 nodes, 16 devices" in text
    assert "node-1 mlx5_ib3" in text
    assert "200 Gb/s" in text


def test_a_step_that_failed_is_said_at_once_with_its_kind_and_name() -> None:
    console = Console(width=160, record=True, file=StringIO())
    Progress(console=console).show(Step(urn=URN, operation="create", begun=0.0, ended=3.21, custom=True, failed=True))
    assert "failed  Release network-operator after 3.2 s" in console.export_text()


def test_an_error_of_a_provider_is_shown_line_by_line_without_markup() -> None:
    console = Console(width=160, record=True, file=StringIO())
    Progress(console=console).show(Diagnostic(severity="error", message="no [bold] quota\nask for more"))
    assert "no [bold] quota\n      ask for more" in console.export_text()


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
    print_summary(console, [], {"pools": {"ndh100": pool}})
    assert (
        "ndh100: not measured · 2 × Standard_ND96isr_H100_v5 · rdma/shared_ib · 0 of 2 nodes" in console.export_text()
    )


def test_a_stack_that_failed_before_it_had_outputs_still_has_its_steps_listed() -> None:
    console = Console(width=160, record=True, file=StringIO())
    print_summary(console, [Step(urn=URN, operation="create", begun=0.0, ended=1.0, custom=True)], {})
    assert "network-operator" in console.export_text()
