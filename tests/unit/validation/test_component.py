"""The component wires its documents: names, order and access."""

import json
from typing import Any

import pytest
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation import Validation, ValidationAccess, ValidationAccessArgs, ValidationArgs
from aks_infiniband.validation.pool_expectations import expectations

from declared.pulumi_mocks import KUBECONFIG, Deploy, Deployment
from tests.unit.validation.one_validation import CONFIG_MAP, inside

JOB = "kubernetes:batch/v1:Job"


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


def test_what_else_the_result_depends_on_renames_the_job(validated: Any) -> None:
    before = names(of(validated(revalidate_when={"driver": "1"}), JOB))
    after = names(of(validated(revalidate_when={"driver": "2"}), JOB))
    assert set(before.values()).isdisjoint(after.values())


def test_the_same_arguments_name_the_same_job(validated: Any) -> None:
    assert names(of(validated(), JOB)) == names(of(validated(), JOB))


def test_another_polling_rhythm_is_another_validation(validated: Any) -> None:
    slower = validated(waits=Waits(poll_seconds=20))
    assert names(of(validated(), JOB)) != names(of(slower, JOB))


def test_pools_share_a_topology_that_is_the_same(deploy: Deploy, pool: Any) -> None:
    pools = [pool.changed(name=name) for name in ("one", "two", "given")]

    def program() -> Any:
        args = ValidationAccessArgs(pools=pools, topologies={"given": "<system/>"})
        return ValidationAccess("shared", args=args).topologies

    deployment = deploy(program)
    shared, again, given = (deployment.result[pool.name] for pool in pools)
    data = deployment.one(CONFIG_MAP).inputs["data"]
    assert shared == again
    assert data[given] == "<system/>"
    assert {key for key in data if key.endswith(".xml")} == {shared, given}


def test_what_pools_of_a_kind_have_in_common_stands_once_and_not_in_each_ones_job(deploy: Deploy, pool: Any) -> None:
    pools = [pool, pool.changed(name="other"), pool.changed(name="alone", node_count=1)]

    def program() -> Any:
        expected = [expectations(validated_pool) for validated_pool in pools]
        access = ValidationAccess("shared", args=ValidationAccessArgs(pools=pools, expected=expected))
        for validated_pool in pools:
            args = ValidationArgs(pool=validated_pool, kubeconfig=KUBECONFIG, access=access)
            Validation(validated_pool.name, args=args)

    deployment = deploy(program)
    data = next(inputs["data"] for inputs in of(deployment, CONFIG_MAP).values() if inputs.get("data"))
    common = {key for key in data if key.startswith("expectations-")}
    assert len(common) == 2, "of one node other things are expected than of two"
    templates = [job["spec"]["template"] for job in of(deployment, JOB).values()]
    own = [json.loads(made["metadata"]["annotations"]["aks-infiniband/expectations.json"]) for made in templates]
    assert [sorted(told) for told in own] == [["node_count", "pool"]] * 3
    arguments = [made["spec"]["containers"][0]["args"] for made in templates]
    files = [told[told.index("--common") + 1].rpartition("/")[2] for told in arguments]
    assert set(files) == common
    for told, file in zip(own, files, strict=True):
        (expected,) = (expectations(found) for found in pools if found.name == told["pool"])
        assert {**json.loads(data[file]), **told} == json.loads(json.dumps(expected))


def test_validations_of_a_namespace_share_program_account_and_roles(deploy: Deploy, pool: Any) -> None:
    pools = [pool, pool.changed(name="other")]

    def program() -> Any:
        access = ValidationAccess("shared", args=ValidationAccessArgs(pools=pools, namespace="ours"))
        for validated_pool in pools:
            Validation(
                validated_pool.name, args=ValidationArgs(pool=validated_pool, kubeconfig=KUBECONFIG, access=access)
            )

    deployment = deploy(program)
    of_pool = [made.name for made in inside(deployment) if made.name.startswith("other")]
    assert sorted(of_pool) == ["other-report", "other-validate"]
    assert {inputs["metadata"]["namespace"] for inputs in of(deployment, CONFIG_MAP).values()} == {"ours"}
    jobs = [job["spec"]["template"]["spec"] for job in of(deployment, JOB).values()]
    assert [job["serviceAccountName"] for job in jobs] == ["validation"] * 2
    (role,) = of(deployment, "kubernetes:rbac.authorization.k8s.io/v1:Role").values()
    assert [name.split("-")[0] for name in role["rules"][0]["resourceNames"]] == ["ndh100", "other"]


def test_the_validation_may_read_nodes_touch_its_report_and_nothing_else(validated: Any) -> None:
    cluster = validated()
    (role,) = of(cluster, "kubernetes:rbac.authorization.k8s.io/v1:Role").values()
    assert role["rules"] == [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["ndh100-validation-report"],
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


def test_the_job_mounts_a_config_map_that_has_its_program_and_every_key_it_names(validated: Any) -> None:
    cluster = validated()
    maps = {inputs["metadata"]["name"]: inputs.get("data") or {} for inputs in of(cluster, CONFIG_MAP).values()}
    for job in of(cluster, JOB).values():
        volumes = {volume["name"]: volume for volume in job["spec"]["template"]["spec"]["volumes"]}
        there = maps[volumes["payload"]["configMap"]["name"]]
        assert {"__init__.py", "await_nodes.py", "validate.py"} <= set(there)
        (topology,) = volumes["topology"]["configMap"]["items"]
        assert there[topology["key"]].startswith("<system")
    assert "ndh100-validation-report" in maps


def test_everything_carries_the_recommended_labels(validated: Any) -> None:
    for made in inside(validated()):
        labels = made.inputs["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "aks-infiniband", made.name
        assert labels["app.kubernetes.io/name"] == "validation", made.name
