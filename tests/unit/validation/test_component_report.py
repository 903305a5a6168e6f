"""The outcome of a validation: the report of its Job, if the Job's pods prove it."""

from typing import Any

import pytest
from aks_infiniband.validation.explanation import evidence
from aks_infiniband.validation.payload.report.document import build_report
from aks_infiniband.validation.payload.report.kept import evidence_of, packed_report
from aks_infiniband.validation.payload.say.checks import make_check

from tests.unit.validation.one_validation import PASSED, RUN, inside, pod_that_said


def test_at_preview_the_report_is_unknown_and_nobody_asks_for_it(validated: Any, asked: list[tuple[str, ...]]) -> None:
    assert validated(preview=True).result is None
    assert asked == []


def test_where_nothing_is_kept_the_report_is_read_from_the_pools_config_map(
    validated: Any, asked: list[tuple[str, ...]]
) -> None:
    assert validated().result["verdict"] == "pass"
    assert asked == [("aks-infiniband-system", RUN, "ndh100-validation-report")]


def test_a_report_that_is_kept_is_believed_whatever_has_become_of_the_config_map(
    validated: Any, expected: Any, asked: list[tuple[str, ...]]
) -> None:
    report = build_report({"run": RUN, "mode": "enforce", "finished": "t"}, {}, [PASSED], expected, {})
    deployment = validated(report=None, kept=packed_report(report))
    assert deployment.result == report
    assert asked == []
    assert deployment.reads == []


@pytest.mark.parametrize(
    ("run", "left"),
    [("another-job", None), (RUN, "report sha256:0"), (RUN, "pool ndh100: pass"), (RUN, "")],
)
def test_a_report_that_its_jobs_pods_do_not_prove_does_not_count(
    validated: Any, expected: Any, warnings: list[str], run: str, left: Any
) -> None:
    forged = build_report({"run": run, "mode": "enforce", "finished": "t"}, {}, [PASSED], expected, {})
    assert validated(report=forged, said=left).result["verdict"] == "not measured"
    assert "is not what its Job's pods have left" in warnings[0]


def test_what_is_kept_may_be_no_report(validated: Any) -> None:
    assert validated(kept="report sha256:0").result["verdict"] == "pass", "it is read from the cluster"


def test_the_report_is_kept_in_the_stack_for_as_long_as_the_job_is_the_same(validated: Any) -> None:
    kept = validated().one("pulumi:index:Stash").request
    assert kept["ignoreChanges"] == ["input"]
    assert kept["replacementTrigger"] == RUN


def test_a_pod_that_another_job_controls_or_that_contradicts_another_proves_nothing() -> None:
    line = evidence_of({})
    assert evidence([pod_that_said(f"{line}\npool: pass"), pod_that_said("pool: waiting")], RUN) == line
    assert evidence([pod_that_said(line, run="another")], RUN) is None
    assert evidence([pod_that_said(line), pod_that_said(evidence_of({"verdict": "pass"}))], RUN) is None


@pytest.mark.field_report("C5")
def test_a_report_that_an_older_version_has_left_is_read(validated: Any) -> None:
    assert validated(key="report.json").result["verdict"] == "pass"


def test_a_job_without_a_report_is_not_measured(validated: Any) -> None:
    assert validated(report=None).result["verdict"] == "not measured"


def test_mode_off_makes_nothing_and_says_not_measured(validated: Any, asked: list[tuple[str, ...]]) -> None:
    deployment = validated("off")
    assert inside(deployment) == []
    assert asked == []
    assert (deployment.result["verdict"], deployment.result["mode"]) == ("not measured", "off")


def test_in_mode_warn_a_failed_report_is_a_warning_and_an_output(
    validated: Any, expected: Any, warnings: list[str]
) -> None:
    failed = make_check(
        "hca-state", "fail", node="n0", device="mlx5_ib3", expected="ACTIVE", measured="DOWN", cause="c"
    )
    report = build_report({"run": RUN, "mode": "warn", "finished": "t"}, {}, [failed], expected, {})

    assert validated("warn", report=report).result["verdict"] == "fail"
    assert len(warnings) == 1
    assert "hca-state on n0 (mlx5_ib3)" in warnings[0]


def test_a_passing_report_warns_of_nothing(validated: Any, warnings: list[str]) -> None:
    validated()
    assert warnings == []
