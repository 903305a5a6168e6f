"""The Job's limits of time, and the reasons to make it again; tests/unit/validation/cases/job.yaml has the Job."""

from typing import Any

import pytest
from aks_infiniband.validation.job_parts import named_job
from aks_infiniband.workload.pods import config_map_name, config_maps

from tests.unit.validation.cases.declaring import OPTIONS, WAITS, spec_of


@pytest.fixture
def validation(pool: Any) -> Any:
    return spec_of(pool)


def container(spec: Any) -> Any:
    (only,) = spec["template"]["spec"]["containers"]
    return only


def init_container(spec: Any) -> Any:
    (only,) = spec["template"]["spec"]["initContainers"]
    return only


def argument_of(container: Any, name: Any) -> Any:
    arguments = container["args"]
    return arguments[arguments.index(name) + 1]


def argument(spec: Any, name: Any) -> Any:
    return argument_of(container(spec), name)


def waited_seconds(pool: Any, spec: Any) -> int:
    """The provider's limit of the wait for the Job."""
    return int(named_job(pool, spec)["metadata"]["annotations"]["pulumi.com/timeoutSeconds"])


def test_a_validation_pod_is_what_a_workload_pod_would_be(pool: Any, validation: Any) -> None:
    """Except for the ConfigMaps, which its namespace does not have: the Job and the shared one have their content."""
    only = container(validation)
    settings = config_maps(pool)
    environment = {variable["name"]: variable.get("value") for variable in only["env"]}
    assert environment.items() >= settings[config_map_name(pool.name)].items()
    (topology,) = [volume for volume in validation["template"]["spec"]["volumes"] if volume["name"] == "topology"]
    (file,) = settings[config_map_name(pool.name, "-topology")]
    shared = {"name": "validation", "items": [{"key": "topology-1.xml", "path": file}]}
    assert topology == {"name": "topology", "configMap": shared}
    assert not {"envFrom"} & only.keys()
    assert "IPC_LOCK" in only["securityContext"]["capabilities"]["add"]
    assert only["securityContext"]["runAsUser"] == 0
    mounts = {mount["mountPath"]: mount["name"] for mount in only["volumeMounts"]}
    volumes = {volume["name"]: volume for volume in validation["template"]["spec"]["volumes"]}
    assert volumes[mounts["/dev/shm"]]["emptyDir"]["medium"] == "Memory"


def test_the_job_is_waited_for_as_long_as_nodes_and_validation_may_take(pool: Any, validation: Any) -> None:
    assert waited_seconds(pool, validation) == WAITS.timeout_seconds + OPTIONS.timeout_seconds


def test_the_provider_gives_up_before_the_deadline_deletes_the_pods(pool: Any, validation: Any) -> None:
    assert waited_seconds(pool, validation) < validation["activeDeadlineSeconds"]


def test_a_pod_gives_up_awaiting_nodes_before_the_provider_does(pool: Any, validation: Any) -> None:
    assert float(argument_of(init_container(validation), "--timeout-seconds")) < waited_seconds(pool, validation)


def test_the_report_is_left_before_the_provider_gives_up_and_the_verdict_is_given_after_it(
    pool: Any, validation: Any
) -> None:
    awaited = float(argument_of(init_container(validation), "--timeout-seconds"))
    reported = float(argument(validation, "--timeout-seconds"))
    given = reported + float(argument(validation, "--linger-seconds"))
    assert awaited + reported < waited_seconds(pool, validation) < given


def test_the_same_inputs_give_the_same_name_and_any_change_gives_another(pool: Any, validation: Any) -> None:
    def name(spec: Any, *others: Any) -> Any:
        return named_job(pool, spec, *others)["metadata"]["name"]

    def spec(pool: Any = pool, **changes: Any) -> Any:
        options = OPTIONS.model_copy(update=changes)
        return spec_of(pool, options)

    usual = name(validation, {"driver": 1}, {"file": "text"})
    assert usual == name(spec(), {"driver": 1}, {"file": "text"})
    others = [
        name(spec(image="example.com/python:4"), {"driver": 1}, {"file": "text"}),
        name(spec(mode="warn"), {"driver": 1}, {"file": "text"}),
        name(spec(pool=pool.changed(node_count=3)), {"driver": 1}, {"file": "text"}),
        name(validation, {"driver": 2}, {"file": "text"}),
        name(validation, {"driver": 1}, {"file": "other text"}),
    ]
    assert len({usual, *others}) == 6


def test_a_name_is_short_enough_for_the_pods_host_names(validation: Any, pool: Any) -> None:
    longest = pool.changed(name="abcdefghijkl")
    name = named_job(longest, validation)["metadata"]["name"]
    assert len(name) <= 52
