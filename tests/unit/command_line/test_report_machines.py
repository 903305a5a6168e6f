"""The report says of each machine what is newer than the stack's verdict, and nothing that the verdict says already."""

from typing import Any

import pytest
from aks_infiniband.validation import machines
from aks_infiniband.validation.machines import Decision, Machine, Measurement, Problem
from aks_infiniband_cli.report.machines import line, since

from tests.unit.command_line.validations import report

PROBLEM = Problem(check="rdma-write-bandwidth", verdict="fail", device="mlx5_3", expected="380", measured="314")


def node(born: str = "2026-11-01T00:00:00Z") -> dict[str, Any]:
    info = {"bootID": "b", "systemUUID": "v"}
    return {"metadata": {"name": "a", "creationTimestamp": born}, "status": {"nodeInfo": info}}


def measured(by: str, *problems: Problem, at: str = "2026-11-22T10:00:00+00:00") -> Measurement:
    verdict = problems[0].verdict if problems else "pass"
    identity = machines.identity_of(node())
    return Measurement(at=at, by=by, verdict=verdict, identity=identity, problems=list(problems))


def said(*measurements: Measurement, born: str = "2026-11-01T00:00:00Z", decisions: Any = ()) -> list[str]:
    accepted: Any = {**report(390.0), "finished": "2026-11-20T10:00:00+00:00", "nodes": {"a": {}}}
    record = {"a": Machine(measurements=list(measurements), decisions=list(decisions))}
    return [line(each) for each in since("nd", accepted, [node(born)], record)]


@pytest.mark.parametrize("measurements", [[], [measured("light check")]], ids=["nothing since", "a check that passed"])
def test_what_the_report_says_already_is_not_said_again(measurements: Any) -> None:
    assert said(*measurements) == []


def test_a_machine_that_is_newer_than_the_verdict_is_named_until_it_was_measured() -> None:
    (text,) = said(born="2026-11-21T00:00:00Z")
    assert "not measured as it is now" in text
    assert "older than the node, which joined at 2026-11-21T00:00:00Z" in text
    (text,) = said(measured("light check"), born="2026-11-21T00:00:00Z")
    assert "light check on 2026-11-22T10:00:00+00:00: pass" in text


def test_a_failed_measurement_is_said_whatever_the_light_check_has_found_since() -> None:
    later = measured("light check", at="2026-11-23T10:00:00+00:00")
    (text,) = said(measured("validate", PROBLEM), later)
    assert "validate on 2026-11-22T10:00:00+00:00: fail: rdma-write-bandwidth (mlx5_3): 314, expected 380" in text


def test_a_decision_is_said_with_its_author() -> None:
    decision = Decision(at="2026-11-22T11:00:00+00:00", by="replace", what="quarantined", why="slow")
    (text,) = said(measured("validate", PROBLEM), decisions=[decision])
    assert text.endswith("; quarantined on 2026-11-22T11:00:00+00:00 by replace")
