"""The component wires its documents: names, order, access, and what comes out as the report."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as k8s
import pytest
from aks_infiniband import diagnosis
from aks_infiniband.validation import (
    Validation,
    ValidationAccess,
    ValidationAccessArgs,
    ValidationArgs,
    ValidationOptions,
    Waits,
)
from aks_infiniband.validation.evidence import evidence
from aks_infiniband.validation.payload.api import packed
from aks_infiniband.validation.payload.checks import make_check
from aks_infiniband.validation.payload.report import build_report, evidence_of

from tests.unit.pulumi_mocks import KUBECONFIG, AzureAndKubernetes, Deploy, Deployment, Registration

JOB = "kubernetes:batch/v1:Job"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"


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


PASSED = make_check("x", "pass", expected=1, measured=1)
RUN = "uid-of-ndh100-validate"


def pod_that_said(message: str, run: str = RUN) -> Any:
    """A pod of a Job, with its termination message."""
    owner = {"kind": "Job", "uid": run, "controller": True}
    state = {"terminated": {"exitCode": 0, "message": message}}
    return {"metadata": {"ownerReferences": [owner]}, "status": {"containerStatuses": [{"state": state}]}}


async def answer(pods: Any) -> Any:
    return pods


@pytest.fixture
def validated(deploy: Deploy, pool: Any, expected: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Deployment]:
    """Run a program with one Validation; its result is the report."""

    def run(
        mode: Any = "enforce",
        *,
        report: Any = "passing",
        said: Any = None,
        preview: bool = False,
        key: str = "report.json.gz",
        **changes: Any,
    ) -> Deployment:
        if report == "passing":
            report = build_report({"run": RUN, "mode": mode, "finished": "t"}, {}, [PASSED], expected, {})
        # The hook that asks the pods is the engine's to call; here the program asks when nothing is kept.
        line = evidence_of(report or {}) if said is None else said
        monkeypatch.setattr(diagnosis, "job_pods", lambda *_: answer([pod_that_said(line)]))

        def program() -> Any:
            cluster = k8s.core.v1.Namespace("cluster")
            pool_ready = k8s.core.v1.Namespace("pool-ready")
            validation = ValidationOptions(mode=mode, image="image:1", timeout_seconds=600)
            given: dict[str, Any] = {"options": validation, "kubeconfig": KUBECONFIG} | changes
            options = pulumi.ResourceOptions(depends_on=[pool_ready], deleted_with=cluster)
            return Validation("ndh100", args=ValidationArgs(pool=pool, **given), opts=options).report

        stored = packed({} if report is None else {key: json.dumps(report)})
        return deploy(program, preview=preview, outputs={CONFIG_MAP: stored})

    return run


def inside(deployment: Deployment) -> list[Registration]:
    """What the component made in the cluster."""
    helpers = ("cluster", "pool-ready")
    return [
        made for made in deployment.registrations if made.type.startswith("kubernetes:") and made.name not in helpers
    ]


def of(deployment: Deployment, kind: str) -> dict[str, Any]:
    """Inputs of everything of one type, by name."""
    return {made.name: made.inputs for made in deployment.all(kind)}


def names(resources: Any) -> Any:
    return {name: inputs["metadata"]["name"] for name, inputs in resources.items()}


@pytest.mark.field_report("D13")
def test_one_job_is_made_whose_name_ends_in_a_hash(validated: Any) -> None:
    jobs = names(of(validated(), JOB))
    assert set(jobs) == {"ndh100-validate"}
    stem, _, digest = jobs["ndh100-validate"].rpartition("-")
    assert (stem, len(digest)) == ("ndh100-validate", 8)


def test_the_job_waits_for_its_access_its_files_and_all_that_makes_nodes_ready(validated: Any) -> None:
    (job,) = validated().all(JOB)
    needed = {"pool-ready", "ndh100-report", "ndh100-access-payload", "ndh100-access-validate"}
    assert needed <= job.dependencies


def test_everything_goes_with_the_cluster_and_waits_for_what_the_component_waits_for(validated: Any) -> None:
    for made in inside(validated()):
        assert made.deleted_with == "cluster", made.name
        assert "pool-ready" in made.dependencies, made.name


def test_a_failed_wait_for_the_job_is_explained(validated: Any) -> None:
    for job in validated().all(JOB):
        assert job.request["hooks"]["onError"] == [f"{job.name}-diagnosis"]


def test_at_preview_the_report_is_unknown_and_so_is_where_it_will_be(validated: Any, read: list[str]) -> None:
    assert validated(preview=True).result is None
    assert read == [pulumi.runtime.rpc.UNKNOWN]  # which the engine, unlike the mocks, does not go and read


def test_what_else_the_result_depends_on_renames_the_job(validated: Any) -> None:
    before = names(of(validated(revalidate_when={"driver": "1"}), JOB))
    after = names(of(validated(revalidate_when={"driver": "2"}), JOB))
    assert set(before.values()).isdisjoint(after.values())


def test_the_same_arguments_name_the_same_job(validated: Any) -> None:
    assert names(of(validated(), JOB)) == names(of(validated(), JOB))


def test_another_polling_rhythm_is_another_validation(validated: Any) -> None:
    slower = validated(waits=Waits(poll_seconds=20))
    assert names(of(validated(), JOB)) != names(of(slower, JOB))


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


def test_validations_of_a_namespace_share_program_account_and_roles(deploy: Deploy, pool: Any) -> None:
    pools = [pool, replace(pool, name="other")]

    def program() -> Any:
        access = ValidationAccess("shared", args=ValidationAccessArgs(pools=pools, namespace="ours"))
        for validated_pool in pools:
            Validation(
                validated_pool.name, args=ValidationArgs(pool=validated_pool, kubeconfig=KUBECONFIG, access=access)
            )

    deployment = deploy(program)
    of_pool = [made.name for made in inside(deployment) if made.name.startswith("other")]
    assert sorted(of_pool) == ["other-rendezvous", "other-report", "other-validate"]
    assert {inputs["metadata"]["namespace"] for inputs in of(deployment, CONFIG_MAP).values()} == {"ours"}
    jobs = [job["spec"]["template"]["spec"] for job in of(deployment, JOB).values()]
    assert [job["serviceAccountName"] for job in jobs] == ["validation"] * 2
    (role,) = of(deployment, "kubernetes:rbac.authorization.k8s.io/v1:Role").values()
    assert [name.split("-")[0] for name in role["rules"][0]["resourceNames"]] == ["ndh100"] * 2 + ["other"] * 2


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


def test_the_validation_may_read_nodes_touch_its_report_and_nothing_else(validated: Any) -> None:
    cluster = validated()
    (role,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:Role").values()
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["ndh100-validation-report", "ndh100-validation-rendezvous"],
            "verbs": ["get", "patch"],
        }
    ]
    (cluster_role,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole").values()
    assert cluster_role["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list"]}]


def test_accounts_and_bindings_belong_together(validated: Any) -> None:
    cluster = validated()
    accounts = set(names(of(cluster, "kubernetes:core/v1:ServiceAccount")).values())
    used = {job["spec"]["template"]["spec"]["serviceAccountName"] for job in of(cluster, JOB).values()}
    assert accounts == used == {"ndh100-validate"}
    (binding,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding").values()
    assert binding["subjects"][0]["name"] == "ndh100-validate"
    (cluster_binding,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding").values()
    assert cluster_binding["subjects"] == binding["subjects"]
    (cluster_role,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole").values()
    assert cluster_binding["roleRef"]["name"] == cluster_role["metadata"]["name"]


def test_the_job_mounts_a_config_map_that_has_every_key_they_name(validated: Any) -> None:
    cluster = validated()
    maps = {inputs["metadata"]["name"]: inputs.get("data") or {} for inputs in of(cluster, CONFIG_MAP).values()}
    for job in of(cluster, JOB).values():
        (volume,) = [volume for volume in job["spec"]["template"]["spec"]["volumes"] if volume["name"] == "payload"]
        keys = {item["key"] for item in volume["configMap"]["items"]}
        assert keys == set(maps[volume["configMap"]["name"]])
    assert "ndh100-validation-report" in maps


def test_everything_carries_the_recommended_labels(validated: Any) -> None:
    for made in inside(validated()):
        labels = made.inputs["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "aks-infiniband", made.name
        assert labels["app.kubernetes.io/name"] == "validation", made.name
