"""The figures of a failed validation, in a table: of this Job alone, the worst first, and the next command."""

import json
import re
from typing import Any

import pytest
from aks_infiniband.diagnosis.view import View
from aks_infiniband.validation.explanation import explain, table
from aks_infiniband.validation.payload.look.alike import judge_versions
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband.validation.payload.talk.config_maps import packed

from tests.unit.diagnosis.views import HEALTHY, JOB, job, pod
from tests.unit.diagnosis.views import said as said_of

SHOW = r"-o jsonpath='{.binaryData.report\.json\.gz}' | base64 -d | gunzip"


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
    return {"metadata": metadata, **packed({"report.json.gz": json.dumps(document)})}


def said(view: Any) -> str:
    text: str = said_of(JOB, view, explain=explain)
    return text


def test_the_table_with_its_causes_and_the_next_command_come_last() -> None:
    text = said(View(nodes=HEALTHY, jobs=[job()], config_maps=[report(check("shm", "pass", cause=None), check())]))
    whole = "kubectl -n aks-infiniband get configmap ndh100-validation-report " + SHOW
    assert text.split("\n")[-6:] == [
        "  - validation of pool ndh100: fail (2 of 2 nodes, 16 of 16 HCAs)",
        "    1 of 2 checks passed; all are in ConfigMap aks-infiniband/ndh100-validation-report, key report.json.gz",
        "    CHECK     WHERE          EXPECTED  MEASURED",
        "    hca-rate  n1 (mlx5_ib2)  400       200.0",
        "      likely cause: fewer lanes",
        f"    next: {whole}",
    ]


def test_what_a_pod_said_of_its_verdict_is_not_repeated() -> None:
    state = {"terminated": {"exitCode": 1, "message": "fail: hca-rate on n1"}}
    failed = pod("validate-1-0", phase="Failed", containerStatuses=[{"name": "validate", "state": state}])
    assert "exit code 1" not in said(View(nodes=HEALTHY, pods=[failed], jobs=[job()], config_maps=[report()]))
    assert "exit code 1" in said(View(nodes=HEALTHY, pods=[failed], jobs=[job()]))


def test_the_next_commands_are_another_update_the_reports_page_and_the_whole_report() -> None:
    text = said(View(nodes=HEALTHY, jobs=[job()], config_maps=[report()]))
    assert re.findall(r"next: (.*)", text)[-3:] == [
        "pulumi up",
        "aks-infiniband report --out report",
        "kubectl -n aks-infiniband get configmap ndh100-validation-report " + SHOW,
    ]
    assert "when it is fixed, run `pulumi up` again" in text


def test_what_many_nodes_show_is_counted_in_a_table_and_the_cause_says_who_differs() -> None:
    facts: Any = {f"n{node:02}": {"versions": {"kernel": f"6.8.0-{1040 + node // 60}"}} for node in range(99)}
    (differing,) = judge_versions(facts)
    text = " ".join(" ".join(table([differing])).split())
    assert "2 different" in text
    assert "in kernel (n00 to n59, 60 in all: 6.8.0-1040; n60 to n98, 39 in all: 6.8.0-1041):" in text


def test_many_nodes_that_fail_alike_are_one_row_and_many_rows_are_cut_short() -> None:
    alike = [check(node=f"m{index}") for index in range(100)]
    assert "m0 to m99, 100 in all" in " ".join(" ".join(table(alike)).split())
    different = [check(node=f"m{index}", measured=index) for index in range(100)]
    text = said(View(nodes=HEALTHY, jobs=[job()], config_maps=[report(*different)]))
    assert text.count("fewer lanes") == 20
    assert "and 80 rows more" in text


def test_a_report_of_another_run_says_nothing_about_this_one() -> None:
    text = said(View(nodes=HEALTHY, jobs=[job()], config_maps=[report(run="uid-0")]))
    assert "hca-rate" not in text
    assert "CHECK" not in text


@pytest.mark.parametrize("text", ["{half", "[]", ""])
def test_an_unreadable_report_is_no_report(text: Any) -> None:
    broken = report()
    broken |= packed({"report.json.gz": text})
    assert "nothing that explains it" not in said(View(nodes=HEALTHY, jobs=[job()], config_maps=[broken]))
