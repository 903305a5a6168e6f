"""What comes out of a validation: the report of its Job, where the Job's pods prove it."""

from typing import Any

import pulumi
import pytest
from aks_infiniband.validation.explanation import evidence
from aks_infiniband.validation.payload.checks import make_check
from aks_infiniband.validation.payload.report import build_report, evidence_of

from tests.unit.pulumi_mocks import AzureAndKubernetes
from tests.unit.validation.one_validation import PASSED, RUN, inside, pod_that_said


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the resources that the program reads instead of making."""
    ids: list[str] = []
    answer = AzureAndKubernetes.new_resource

    def remember(self: AzureAndKubernetes, args: Any) -> Any:
        if args.resource_id:
            ids.append(args.resource_id)
        return answer(self, args)

    monkeypatch.setattr(AzureAndKubernetes, "new_resource", remember)
    return ids


def test_at_preview_the_report_is_unknown_and_so_is_where_it_will_be(validated: Any, read: list[str]) -> None:
    assert validated(preview=True).result is None
    assert read == [pulumi.runtime.rpc.UNKNOWN]  # which the engine, unlike the mocks, does not go and read


def test_the_report_is_read_from_the_pools_config_map(validated: Any, read: list[str]) -> None:
    assert validated().result["verdict"] == "pass"
    assert read == ["aks-infiniband-system/ndh100-validation-report"]


@pytest.mark.parametrize(
    ("run", "left"),
    [("another-job", None), (RUN, "report sha256:0"), (RUN, "pool ndh100: pass"), (RUN, "")],
)
def test_a_report_that_its_jobs_pods_do_not_prove_does_not_count(
    validated: Any, expected: Any, monkeypatch: Any, run: str, left: Any
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    forged = build_report({"run": run, "mode": "enforce", "finished": "t"}, {}, [PASSED], expected, {})
    assert validated(report=forged, said=left).result["verdict"] == "not measured"
    assert "is not what its Job's pods have left" in said[0]


def test_the_digest_is_kept_in_the_stack_for_as_long_as_the_job_is_the_same(validated: Any) -> None:
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


def test_mode_off_makes_nothing_and_says_not_measured(validated: Any, read: list[str]) -> None:
    deployment = validated("off")
    assert inside(deployment) == []
    assert read == []
    assert (deployment.result["verdict"], deployment.result["mode"]) == ("not measured", "off")


def test_in_mode_warn_a_failed_report_is_a_warning_and_an_output(
    validated: Any, expected: Any, monkeypatch: Any
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    failed = make_check(
        "hca-state", "fail", node="n0", device="mlx5_ib3", expected="ACTIVE", measured="DOWN", cause="c"
    )
    report = build_report({"run": RUN, "mode": "warn", "finished": "t"}, {}, [failed], expected, {})

    assert validated("warn", report=report).result["verdict"] == "fail"
    assert len(said) == 1
    assert "hca-state on n0 (mlx5_ib3)" in said[0]


def test_a_passing_report_warns_of_nothing(validated: Any, monkeypatch: Any) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    validated()
    assert said == []
