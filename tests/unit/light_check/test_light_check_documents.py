"""The scheduled check's objects in a cluster: CronJobs for idle nodes, an account that can do little, an exporter."""

from typing import Any

import pytest
from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.pool import Pool
from aks_infiniband.hosts.node_daemon import UNPRIVILEGED
from aks_infiniband.light_check.documents import cron_job_spec, exporter_spec, idle_node, policies, rules
from aks_infiniband.resources.registry import Registry

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool
from tests.unit.components.rdma_programs import program

HOURLY = {"schedule": "17 * * * *"}
POOL = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 17}
RBAC = "kubernetes:rbac.authorization.k8s.io/v1:"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicy"


def cron_job(of: Pool, registry: Registry = Registry()) -> dict[str, Any]:  # noqa: B008 frozen
    return cron_job_spec(of, schedule="17 * * * *", namespace="ns", given={}, registry=registry)


def pod_of(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["jobTemplate"]["spec"]["template"]["spec"]
    return found


@pytest.mark.parametrize(
    ("mode", "asked"),
    [("rdma-shared", {"rdma/shared_ib": "63"}), ("ipoib", {"rdma/shared_ib": "63"}), ("sriov", {"rdma/ib": "8"})],
)
def test_a_pod_asks_for_all_that_a_node_has_so_that_only_an_idle_node_takes_it(mode: Any, asked: Any) -> None:
    wanted = {"nvidia.com/gpu": "8", **asked}
    assert idle_node(pool(mode=mode)) == wanted
    (container,) = pod_of(cron_job(pool(mode=mode)))["containers"]
    for kind in ("requests", "limits"):
        assert container["resources"][kind].items() >= wanted.items()


def test_runs_never_overlap_are_short_and_leave_little_behind() -> None:
    spec = cron_job(pool())
    assert (spec["concurrencyPolicy"], spec["startingDeadlineSeconds"]) == ("Forbid", 600)
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (1, 1)
    job = spec["jobTemplate"]["spec"]
    assert (job["activeDeadlineSeconds"], job["backoffLimit"], job["ttlSecondsAfterFinished"]) == (900, 0, 600)


def test_a_run_is_over_when_the_pods_of_idle_nodes_are_done() -> None:
    job = cron_job(pool(node_count=7))["jobTemplate"]["spec"]
    assert (job["completionMode"], job["completions"], job["parallelism"]) == ("Indexed", 7, 7)
    assert job["successPolicy"] == {"rules": [{"succeededCount": 1}]}


def test_a_workload_takes_a_node_from_the_check_and_no_node_is_made_for_it(deploy: Deploy) -> None:
    priority = deploy(program(lightCheck=HOURLY)).one("kubernetes:scheduling.k8s.io/v1:PriorityClass").inputs
    assert priority["value"] < -10
    assert priority["preemptionPolicy"] == "Never"
    spec = cron_job(pool())
    assert pod_of(spec)["priorityClassName"] == "ns-light-check"
    assert pod_of(spec)["terminationGracePeriodSeconds"] == 1


def test_images_come_from_the_mirror_with_its_secret() -> None:
    mirror = Registry(images="mirror.example", pull_secret="login")
    pods = [pod_of(cron_job(pool(), mirror)), exporter_spec([pool()], mirror)["template"]["spec"]]
    for spec in pods:
        assert spec["imagePullSecrets"] == [{"name": "login"}]
        assert spec["containers"][0]["image"].startswith("mirror.example/")


def test_the_account_reads_nodes_patches_their_status_and_creates_events_and_no_more() -> None:
    found = {
        where: {(*rule["resources"], *rule["verbs"], *rule.get("resource_names", ())) for rule in allowed}
        for where, allowed in rules([pool()], "ns").items()
    }
    assert found == {
        None: {("nodes", "get", "list"), ("nodes/status", "patch")},
        "ns": {("configmaps", "get", "patch", "ndh100-light-check"), ("configmaps", "get", "machines")},
        "default": {("events", "create")},
    }


def test_nobody_may_patch_nodes_before_a_policy_limits_it_to_the_condition(deploy: Deploy) -> None:
    made = deploy(program(lightCheck=HOURLY))
    limits = [*made.all(POLICY), *made.all(f"{POLICY}Binding")]
    ours = [limit for limit in limits if "light-check" in limit.name]
    watch = "aks-infiniband-system-light-check-watch"
    assert {limit.inputs["metadata"]["name"] for limit in ours} == {
        "aks-infiniband-system-light-check",
        "aks-infiniband-system-light-check-events",
        watch,
        f"{watch}-runs",
        f"{watch}-events",
        f"{watch}-evictions",
    }
    for limit in ours:
        spec = limit.inputs["spec"]
        if "matchConditions" in spec:
            (account,) = spec["matchConditions"]
            name = "light-check-watch" if limit.inputs["metadata"]["name"].startswith(watch) else "light-check"
            assert account["expression"].endswith(f"== 'system:serviceaccount:aks-infiniband-system:{name}'")
        else:
            assert spec == {"policyName": limit.inputs["metadata"]["name"], "validationActions": ["Deny"]}
    given = [
        role
        for kind in ("RoleBinding", "ClusterRoleBinding")
        for role in made.all(f"{RBAC}{kind}")
        if "light-check" in role.name
    ]
    assert len(given) == 6
    for role in given:
        of_watch = "watch" in role.name
        assert {limit.name for limit in ours if ("watch" in limit.name) == of_watch} <= role.dependencies


def test_a_pod_tells_of_its_own_node_alone() -> None:
    for spec in policies("ns").values():
        (node,) = spec["variables"]
        assert "authentication.kubernetes.io/node-name" in node["expression"]
        assert any("variables.node" in rule["expression"] for rule in spec["validations"])


def test_the_exporter_has_no_account_no_privileges_and_every_pools_report() -> None:
    spec = exporter_spec([pool(), pool(name="hb")], Registry())["template"]["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in spec
    (container,) = spec["containers"]
    assert container["securityContext"] == UNPRIVILEGED
    mounted = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert mounted >= {f"/var/lib/aks-infiniband/reports/{name}" for name in ("ndh100", "hb")}
    assert "/var/lib/aks-infiniband/record/machines" in mounted
    (record,) = [volume["configMap"] for volume in spec["volumes"] if volume["name"] == "machines"]
    assert record == {"name": "machines", "optional": True}, "no command may have measured yet"


def test_the_check_begins_when_every_pool_is_validated_and_is_left_out_unless_asked_for(deploy: Deploy) -> None:
    assert deploy(program()).all("kubernetes:batch/v1:CronJob") == []
    made_ = deploy(program(lightCheck=HOURLY)).all("kubernetes:batch/v1:CronJob")
    cron_jobs = sorted(made_, key=lambda made: str(made.inputs["metadata"]["name"]))
    assert [made.inputs["metadata"]["name"] for made in cron_jobs] == ["ndh100-light-check", "ndh100-light-check-now"]
    assert [made.inputs["spec"].get("suspend") for made in cron_jobs] == [None, True]
    for cron_job_ in cron_jobs:
        assert {"rdma-ndh100-validate"} <= cron_job_.dependencies


def test_every_run_judges_by_the_settings_of_the_validation(deploy: Deploy) -> None:
    validation = {"errorCounters": "enforce", "thresholds": {"rdma-write-bandwidth": {"fail": 300}}}
    bounds, place = {"rdma-write-bandwidth": GivenThreshold(fail=300)}, "aks-infiniband-system"
    made = deploy(program(lightCheck=HOURLY, validation=validation)).all("kubernetes:batch/v1:CronJob")
    for each in (cron_job.inputs["spec"] for cron_job in made):
        options: Any = {"schedule": each["schedule"], "suspended": "suspend" in each, "error_counters": "enforce"}
        assert each == cron_job_spec(pool(), namespace=place, given=bounds, registry=Registry(), **options)


def test_a_large_pool_has_a_config_map_for_each_sixteen_pods_and_the_account_may_fill_these_alone(
    deploy: Deploy,
) -> None:
    made = deploy(program(pools=[POOL], lightCheck=HOURLY))
    names = ["ndh100-light-check", "ndh100-light-check-1"]
    found = [held for held in made.all("kubernetes:core/v1:ConfigMap") if held.inputs["metadata"]["name"] in names]
    assert {held.name for held in found} == {"rdma-light-check-ndh100", "rdma-light-check-ndh100-1"}
    assert [held.request["ignoreChanges"] for held in found] == [["data", "binaryData"]] * 2
    for cron_job in made.all("kubernetes:batch/v1:CronJob"):
        assert {held.name for held in found} <= cron_job.dependencies, "or a run begins that has nowhere to write"
    roles = [role for role in made.all(f"{RBAC}Role") if "light-check" in role.name and "watch" not in role.name]
    allowed = [rule for role in roles for rule in role.inputs["rules"] if rule["resources"] == ["configmaps"]]
    assert [rule["resourceNames"] for rule in allowed] == [names, ["machines"]]
