"""A person's view of a rehearsal."""

from io import StringIO
from typing import Any

import pytest
from aks_infiniband.validation.reports import severity
from rich.console import Console

from rehearsal.engine.events import Step
from rehearsal.outcome.progress import Progress
from rehearsal.outcome.tables import checks_table

URN = "urn:pulumi:dev::aks-infiniband::kubernetes:helm.sh/v3:Release::network-operator"


def test_a_rehearsal_ranks_checks_as_the_validation_does() -> None:
    cases = [("not judged", None), ("warn", "slow"), ("not measured", None), ("not measured", "gone"), ("fail", "down")]
    usual = {"expected": "400 Gb/s", "measured": "400 Gb/s"}
    checks: list[Any] = [
        {**usual, "verdict": verdict, "check": f"{verdict}, {cause}", "cause": cause} for verdict, cause in cases
    ]
    table = checks_table("ndh100", {"checks": checks}, width=160)
    assert [str(cell) for cell in table.columns[0].cells] == [found["check"] for found in sorted(checks, key=severity)]


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


def test_the_plan_of_a_preview_is_not_taken_for_work_done() -> None:
    progress = Progress(console=Console(quiet=True))
    progress.show(Step(urn=URN, operation="create", begun=0.0, ended=0.0, custom=True))
    progress.forget_plan()
    assert progress.steps == []
