"""The report says what was looked at, what was not, and what went wrong, in data and in words."""

import json
from typing import Any

import pytest
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.payload.report.document import build_report, message_of, unmeasured_report
from aks_infiniband.validation.payload.say.checks import fails_update, make_check
from aks_infiniband.validation.payload.say.lines import lines_of
from aks_infiniband.validation.payload.validate import skipped


def report_of(facts: Any, expected: Any) -> Any:
    checks = judge_pool(facts, expected)
    return build_report({"run": "uid", "mode": "enforce", "finished": "now"}, facts, checks, expected, {})


def test_a_healthy_pool_passes_and_its_coverage_names_what_was_not_measured(healthy: Any, expected: Any) -> None:
    expected = expected | {"not_measured": ["all-reduce", "GPUDirect"]}
    report = report_of({"n0": healthy(), "n1": healthy()}, expected)

    assert report["verdict"] == "pass"
    assert report["coverage"]["summary"] == "2 of 2 nodes, 16 of 16 HCAs; all-reduce, GPUDirect: not measured"
    assert report["coverage"]["not_measured"] == ["all-reduce", "GPUDirect"]
    assert (report["schema_version"], report["pool"], report["run"]) == (2, "ndh100", "uid")
    assert json.loads(json.dumps(report)) == report


def test_one_failed_check_fails_the_pool(healthy: Any, expected: Any) -> None:
    facts = {"n0": healthy(), "n1": healthy()}
    facts["n1"]["hcas"][2]["state"] = "DOWN"

    assert report_of(facts, expected)["verdict"] == "fail"


def test_half_a_pool_is_half_covered(healthy: Any, expected: Any) -> None:
    report = report_of({"n0": healthy()}, expected)

    assert report["verdict"] == "fail"
    assert report["coverage"]["nodes"] == {"looked_at": 1, "expected": 2}
    assert report["coverage"]["hcas"] == {"looked_at": 8, "expected": 16}
    assert report["coverage"]["summary"].startswith("1 of 2 nodes, 8 of 16 HCAs")


def test_a_pool_of_one_machine_is_not_measured_and_lets_the_update_succeed(healthy: Any, expected: Any) -> None:
    alone = expected | {"node_count": 1}
    checks = judge_pool({"n0": healthy()}, alone)
    every = [*checks, *skipped(checks, alone).checks]
    report = build_report({"run": "uid", "mode": "enforce", "finished": "now"}, {"n0": healthy()}, every, alone, {})
    assert report["verdict"] == "not measured"
    assert report["coverage"]["summary"].startswith(
        "1 of 1 nodes, 8 of 8 HCAs; nothing between machines, which takes two;"
    )
    assert not fails_update(every)


def test_a_figure_that_nothing_is_there_to_judge_by_is_told_in_the_coverage(healthy: Any, expected: Any) -> None:
    checks = [make_check("all-reduce", "not judged", expected=None, measured=99.0, unit="GB/s")]
    report = build_report({"run": "uid", "mode": "enforce", "finished": "now"}, {}, checks, expected, {})
    assert report["coverage"]["summary"].endswith("; all-reduce: measured, not judged")


@pytest.mark.field_report("C5")
def test_a_pool_nobody_looked_at_is_not_measured(expected: Any) -> None:
    report = unmeasured_report(expected, mode="off")

    assert (report["verdict"], report["mode"], report["checks"]) == ("not measured", "off", [])
    assert report["coverage"]["summary"].startswith("0 of 2 nodes, 0 of 16 HCAs; nodes, HCAs, rdma-write-bandwidth")


def test_devices_that_show_the_same_are_named_in_one_line(healthy: Any, expected: Any) -> None:
    facts = {"n0": healthy(), "n1": healthy()}
    for index in (1, 3):
        facts["n1"]["hcas"][index]["state"] = "DOWN"
    facts["n0"]["hcas"][0]["state"] = "DOWN"

    lines = lines_of(judge_pool(facts, expected))
    assert len(lines) == 1
    assert lines[0].startswith(
        "fail: hca-state on n0 (mlx5_ib0), n1 (mlx5_ib1, mlx5_ib3): expected ACTIVE, measured DOWN - "
    )


def test_the_message_starts_with_the_verdict_its_time_and_coverage(healthy: Any, expected: Any) -> None:
    facts = {"n0": healthy(), "n1": healthy()}
    facts["n1"]["shm_bytes"] = None

    first, second = message_of(report_of(facts, expected)).split("\n")
    assert first == "pool ndh100: fail on now (2 of 2 nodes, 16 of 16 HCAs)"
    assert second.startswith("fail: shm on n1: expected 1073741824, measured nothing - ")
