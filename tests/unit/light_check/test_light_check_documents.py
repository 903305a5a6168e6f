"""The scheduled check's objects in a cluster: CronJobs for idle nodes, an account that can do little, an exporter."""

from typing import Any

from aks_infiniband.facts.baselines import GivenThreshold
from aks_infiniband.facts.pool import Pool
from aks_infiniband.light_check.documents import cron_job_spec, policies
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


def test_a_workload_takes_a_node_from_the_check_and_no_node_is_made_for_it(deploy: Deploy) -> None:
    priority = deploy(program(lightCheck=HOURLY)).one("kubernetes:scheduling.k8s.io/v1:PriorityClass").inputs
    assert priority["value"] < -10
    assert priority["preemptionPolicy"] == "Never"
    spec = cron_job(pool())
    assert pod_of(spec)["priorityClassName"] == "ns-light-check"
    assert pod_of(spec)["terminationGracePeriodSeconds"] == 1


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
