"""The run of `aks-infiniband validate`: the deployed Job, on idle nodes, and nothing else."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband.validation.job_parts import common_file
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband_cli.validate.deployed import deployed, expected_of
from aks_infiniband_cli.validate.documents import belongings, job

from tests.unit.command_line.validations import ACCEPTED, POOL, RUN, job_of, node, validation


def terms_of(template: Any) -> Any:
    return template["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]


def arguments(container: Any) -> dict[str, str]:
    return dict(zip(container["args"], container["args"][1:], strict=False))


def test_the_job_is_the_deployed_one_on_the_chosen_nodes_with_a_report_of_its_own() -> None:
    made, before = job(RUN), job_of()
    template, was = made["spec"]["template"]["spec"], before["spec"]["template"]["spec"]
    assert (made["spec"]["completions"], made["spec"]["parallelism"]) == (2, 0), "its pods start when all is there"
    (awaiting,), (validating,) = template["initContainers"], template["containers"]
    asked = arguments(awaiting)
    assert (asked["--selector"], asked["--nodes"]) == ("kubernetes.io/hostname in (host-a,host-c)", "2")
    asked = arguments(validating)
    said = ("ndh100-again-t-report", "warn", "0")
    assert (asked["--report"], asked["--mode"], asked["--linger-seconds"]) == said
    (term,) = terms_of(template)
    assert term["matchExpressions"][-1]["values"] == ["host-a", "host-c"]
    assert template["affinity"]["podAntiAffinity"] == was["affinity"]["podAntiAffinity"]
    assert validating["image"] == was["containers"][0]["image"]
    same = ("nodeSelector", "tolerations", "volumes", "serviceAccountName", "securityContext")
    assert [template.get(key) for key in same] == [was.get(key) for key in same]
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert not [label for label in labels if label.endswith(("controller-uid", "job-name"))]
    assert made["metadata"]["labels"]["app.kubernetes.io/managed-by"] != before["metadata"]["labels"]


def test_a_pool_without_device_plugin_still_waits_for_its_driver() -> None:
    without = POOL.changed(mode="driver-only", gpu_driver="none")
    template = job(replace(RUN, validation=validation(without)))["spec"]["template"]["spec"]
    (term,) = terms_of(template)
    keys = [expression["key"] for expression in term["matchExpressions"]]
    assert keys == ["network.nvidia.com/operator.mofed.wait", "agentpool", "kubernetes.io/hostname"]


def test_all_that_a_run_makes_belongs_to_its_job_which_goes_by_itself() -> None:
    spec = job(RUN)["spec"]
    assert spec["ttlSecondsAfterFinished"] == 3600
    assert "suspend" not in spec, "a Job that is suspended has no deadline, and never goes by itself"
    assert spec["activeDeadlineSeconds"] == job_of()["spec"]["activeDeadlineSeconds"]
    made = belongings(RUN, "u-1")
    assert [document["kind"] for document in made] == ["ConfigMap", "Role", "RoleBinding"]
    assert {document["metadata"]["ownerReferences"][0]["uid"] for document in made} == {"u-1"}
    assert made[1]["rules"][0]["resourceNames"] == [RUN.report]
    assert made[2]["subjects"] == [{"kind": "ServiceAccount", "name": "validation", "namespace": "system"}]
    assert json.loads(made[0]["data"]["accepted.json"]) == ACCEPTED, "the pods compare with it"


def test_the_pods_of_a_large_run_divide_what_they_write_among_several_config_maps() -> None:
    made = belongings(replace(RUN, nodes=[node(f"n{number}") for number in range(20)]), "u-1")
    filled = [document["metadata"]["name"] for document in made if document["kind"] == "ConfigMap"]
    assert filled == [RUN.report, f"{RUN.report}-1"]
    (role,) = [document for document in made if document["kind"] == "Role"]
    assert role["rules"][0]["resourceNames"] == filled


def test_the_newest_validation_of_a_pool_counts_and_one_of_an_older_release_does_not() -> None:
    old, new = job_of(made="2026-10-01T00:00:00Z"), job_of(made="2026-11-01T00:00:00Z")
    assert deployed([new, old], [])["ndh100"].job is new
    del new["spec"]["template"]["metadata"]["annotations"]["aks-infiniband/expectations.json"]
    assert deployed([new], []) == {}


def test_what_pools_of_a_kind_have_in_common_is_read_from_the_program_beside_their_jobs() -> None:
    key, text = common_file(expectations(POOL))
    found = job_of(common=[key])
    program = {"metadata": {"namespace": "system", "name": "validation"}, "data": {key: text}}
    annotation = found["spec"]["template"]["metadata"]["annotations"]["aks-infiniband/expectations.json"]
    assert json.loads(annotation) == {"pool": "ndh100", "node_count": 4}
    assert deployed([found], [program])["ndh100"].expected == json.loads(json.dumps(expectations(POOL)))


def test_given_limits_replace_the_deployed_ones_of_their_level_and_nothing_else() -> None:
    given = {"rdma-write-bandwidth": {"fail": 1.0}, "all-reduce": {"warn": 2.0}, "ipoib-latency": {"warn": 3.0}}
    before, found = validation().expected, expected_of(validation(), 2, given)
    was, bound = before["thresholds"]["rdma-write-bandwidth"], found["thresholds"]["rdma-write-bandwidth"]
    assert (bound["fail"], bound["warn"], bound["source"]) == (1.0, was["warn"], "the command line")
    assert found["collective"]["thresholds"]["infiniband"]["warn"] == 2.0
    assert "ipoib-latency" not in found["thresholds"], "the pool has no such figure"
    assert (found["node_count"], found["pool_nodes"], before["node_count"]) == (2, 4, 4)
    assert expected_of(validation(), 4, {}) == {**before, "pool_nodes": 4}


@pytest.mark.parametrize("waiting", [0, 2])
def test_a_job_that_another_release_has_made_otherwise_is_left_out(waiting: int) -> None:
    found = copy.deepcopy(dict(validation().job))
    spec = found["spec"]["template"]["spec"]
    spec["initContainers"] = spec["initContainers"] * waiting
    assert deployed([found], []) == {}
    assert deployed([validation().job], []) != {}
