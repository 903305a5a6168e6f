"""What a failed validation measured, in a table: of this Job alone, the worst first, and what to run next."""

import json
import re
from typing import Any

import pytest
from aks_infiniband.diagnosis.report_table import table_rows
from aks_infiniband.diagnosis.view import View
from aks_infiniband.validation.payload.checks import make_check

from tests.unit.diagnosis.views import HEALTHY, JOB, job, pod, said


def check(name: Any = "hca-rate", verdict: Any = "fail", **changes: Any) -> Any:
    given = {"node": "n1", "device": "mlx5_ib2", "expected": 400, "measured": 200.0, "cause": "fewer lanes"}
    return make_check(name, verdict, **{**given, **changes})


def report(*checks: Any, run: Any = "uid-1") -> Any:
    document = {
        "run": run,
        "pool": "ndh100",
        "verdict": "fail",
        "coverage": {"summary": "2 of 2 nodes, 16 of 16 HCAs"},
        "checks": list(checks or [check()]),
    }
    metadata = {"name": "ndh100-validation-report", "namespace": "aks-infiniband"}
    return {"metadata": metadata, "data": {"report.json": json.dumps(document)}}


def shown(*checks: Any) -> list[list[str]]:
    """The cells of the table's lines, its head first."""
    text = said(JOB, View(nodes=HEALTHY, jobs=[job()], config_maps=[report(*checks)]))
    table = text[text.index("CHECK") : text.index("    next: ")]
    return [re.split(r"\s{2,}", line.strip()) for line in table.strip().split("\n")]


def test_the_table_comes_first_and_what_a_pod_said_of_it_is_not_repeated() -> None:
    state = {"terminated": {"exitCode": 1, "message": "fail: hca-rate on n1"}}
    failed = pod("validate-1-0", phase="Failed", containerStatuses=[{"name": "validate", "state": state}])
    good = check("shm", "pass", cause=None)
    view = View(nodes=HEALTHY, pods=[failed], jobs=[job()], config_maps=[report(good, check())])

    lines = said(JOB, view).split("\n")
    assert lines[1] == "  - validation of pool ndh100: fail (2 of 2 nodes, 16 of 16 HCAs)"
    assert lines[2] == "    CHECK     WHERE          EXPECTED  MEASURED  LIKELY CAUSE"
    assert lines[3] == "    hca-rate  n1 (mlx5_ib2)  400       200.0     fewer lanes"
    assert not any("exit code 1" in line or "shm" in line for line in lines)


def test_the_next_commands_are_the_whole_report_its_page_and_another_update() -> None:
    text = said(JOB, View(nodes=HEALTHY, jobs=[job()], config_maps=[report()]))
    assert re.findall(r"next: (.*)", text)[:3] == [
        r"kubectl -n aks-infiniband get configmap ndh100-validation-report -o jsonpath='{.data.report\.json}'",
        "aks-infiniband report --kubeconfig FILE --out report",
        "pulumi up",
    ]
    assert "when it is mended, run `pulumi up` again" in text


def test_failures_come_before_what_was_not_measured_and_warnings_are_last() -> None:
    nobody = {"node": None, "device": None}
    rows = shown(
        check("versions", "warn", node=None, device=None, expected="one", measured="two", cause="mixed"),
        check("all-reduce", "not measured", **nobody, expected=None, measured=None, cause="a GPU is missing"),
        check("ipoib-latency", "not measured", **nobody, expected=None, measured=None, cause=None),
        check(),
    )
    assert [row[0] for row in rows[1:]] == ["hca-rate", "all-reduce", "versions (warning)"]
    assert rows[2][1:] == ["the pool", "nothing", "not measured", "a GPU is missing"]


def test_devices_of_a_node_that_show_the_same_are_one_row_and_nodes_are_not_mixed() -> None:
    devices = [check(device=f"mlx5_ib{index}") for index in range(8)]
    rows = table_rows([*devices, check(node="n0"), check(node="n0", device="mlx5_ib5")])
    assert [row[1] for row in rows] == ["n1 (mlx5_ib0 to mlx5_ib7, 8 in all)", "n0 (mlx5_ib2, mlx5_ib5)"]


def test_a_measurement_has_its_unit_and_its_earlier_tries() -> None:
    tries = [{"value": 180.0, "error": None}, {"value": 200.0, "error": None}]
    ((*_, measured, _cause),) = table_rows([check(unit="Gb/s", tries=tries)])
    assert measured == "200.0 Gb/s (before: 180.0)"


def test_a_cell_that_is_too_long_is_cut_and_the_cause_is_not() -> None:
    cause = "on different partitions " * 10
    ((_, _, _, measured, told),) = table_rows(
        [check(measured={f"n{index}": "0x8012" for index in range(99)}, cause=cause)]
    )
    assert len(measured) == 48
    assert measured.endswith("…")
    assert told == cause


def test_a_pool_of_which_much_fails_is_told_in_twenty_rows_and_where_the_rest_is() -> None:
    text = said(
        JOB,
        View(nodes=HEALTHY, jobs=[job()], config_maps=[report(*(check(node=f"m{index}") for index in range(100)))]),
    )
    assert text.count("fewer lanes") == 20
    assert "    and 80 more in ConfigMap aks-infiniband/ndh100-validation-report, key report.json\n" in text


def test_a_report_of_another_run_says_nothing_about_this_one() -> None:
    text = said(JOB, View(nodes=HEALTHY, jobs=[job()], config_maps=[report(run="uid-0")]))
    assert "hca-rate" not in text
    assert "CHECK" not in text


@pytest.mark.parametrize("text", ["{half", "[]", ""])
def test_an_unreadable_report_is_no_report(text: Any) -> None:
    broken = report()
    broken["data"]["report.json"] = text
    assert "nothing that explains it" not in said(JOB, View(nodes=HEALTHY, jobs=[job()], config_maps=[broken]))
