"""The Job as a document: the nodes of its pods, their requests, their ends, and the reasons to make it again."""

import json
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.resources.options import Waits
from aks_infiniband.validation.job_parts import named_job
from aks_infiniband.validation.options import ValidationOptions
from aks_infiniband.validation.payload.talk.termination import EXIT_RETRY, EXIT_VERDICT
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.validation.program import payload_files, program_volume
from aks_infiniband.validation.validation_job import PoolAccess, validation_spec
from aks_infiniband.workload.pods import config_map_name, config_maps

WAITS = Waits(poll_seconds=10, stable_seconds=30, timeout_seconds=2700)
OPTIONS = ValidationOptions(mode="enforce", image="example.com/python:3", timeout_seconds=1800)


def spec_of(pool: Any, options: Any = OPTIONS, **more: Any) -> Any:
    return validation_spec(
        pool,
        options=options,
        waits=WAITS,
        access=PoolAccess(namespace="system", account="validation", topology="topology-1.xml"),
        expected=expectations(pool),
        **more,
    )


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


@pytest.mark.field_report("B5", "B6c")
def test_each_pod_first_awaits_all_gpus_and_rdma_of_every_node(validation: Any) -> None:
    awaits = init_container(validation)
    assert (awaits["name"], awaits["command"][-1]) == ("await-nodes", "payload.await_nodes")
    assert "--resource=nvidia.com/gpu=8" in awaits["args"]
    assert "--resource=rdma/shared_ib=1" in awaits["args"]
    assert argument_of(awaits, "--nodes") == "2"
    assert argument_of(awaits, "--selector") == "agentpool=ndh100"
    limits = [argument_of(awaits, f"--{name}-seconds") for name in ("poll", "stable", "timeout")]
    assert limits == ["10", "30", "2700"]


def test_every_toleration_has_a_key(validation: Any) -> None:
    tolerations = validation["template"]["spec"]["tolerations"]
    assert tolerations
    assert all(toleration["key"] for toleration in tolerations)


def test_awaiting_nodes_takes_no_privilege_and_no_device(validation: Any) -> None:
    awaits = init_container(validation)
    context = awaits["securityContext"]
    assert context["capabilities"] == {"drop": ["ALL"]}
    assert context["allowPrivilegeEscalation"] is False
    assert context["readOnlyRootFilesystem"] is True
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] > 0
    for kind in ("requests", "limits"):
        assert set(awaits["resources"][kind]) <= {"cpu", "memory"}
    assert {"cpu", "memory"} == set(awaits["resources"]["requests"])


@pytest.mark.field_report("C6")
def test_the_validation_has_one_pod_on_each_node(validation: Any) -> None:
    assert (validation["completionMode"], validation["completions"], validation["parallelism"]) == ("Indexed", 2, 2)
    spec = validation["template"]["spec"]
    (term,) = spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert term["topologyKey"] == "kubernetes.io/hostname"
    labels = validation["template"]["metadata"]["labels"]
    assert term["labelSelector"]["matchLabels"].items() <= labels.items()
    assert spec["nodeSelector"] == {"agentpool": "ndh100"}
    assert spec["tolerations"] == [{"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]


def test_a_validation_pod_takes_the_whole_node_and_states_its_own_needs(validation: Any) -> None:
    resources = container(validation)["resources"]
    devices = {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
    assert devices.items() <= resources["limits"].items()
    assert devices.items() <= resources["requests"].items()
    assert {"cpu", "memory"} <= set(resources["requests"])


def test_a_validation_pod_of_a_size_without_gpus_asks_for_none(pool: Any) -> None:
    cpu = pool.changed(size=SIZES["Standard_HB120rs_v3"], gpu_driver="none")
    assert "nvidia.com/gpu" not in container(spec_of(cpu))["resources"]["limits"]


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


def from_annotations(validation: Any, volume: Any) -> dict[str, str]:
    """The files of a volume of the downward API, with what the pod's annotations have for them."""
    annotations = validation["template"]["metadata"]["annotations"]
    keys = {item["path"]: item["fieldRef"]["fieldPath"] for item in volume["downwardAPI"]["items"]}
    return {path: annotations[key.partition("'")[2].rstrip("']")] for path, key in keys.items()}


def test_the_payload_is_mounted_read_only_and_the_expectations_are_the_pools_own(pool: Any, validation: Any) -> None:
    (volume,) = [volume for volume in validation["template"]["spec"]["volumes"] if volume["name"] == "payload"]
    assert volume == program_volume("validation", payload_files())
    for spec in (init_container(validation), container(validation)):
        (mount,) = [mount for mount in spec["volumeMounts"] if mount["name"] == "payload"]
        assert mount["readOnly"] is True
        assert {"name": "PYTHONPATH", "value": f"{mount['mountPath']}/.."} in spec["env"]
        assert spec["command"][-1].startswith(f"{mount['mountPath'].rpartition('/')[2]}.")
    (own,) = [volume for volume in validation["template"]["spec"]["volumes"] if volume["name"] == "podinfo"]
    (mount,) = [mount for mount in container(validation)["volumeMounts"] if mount["name"] == "podinfo"]
    ((file, text),) = from_annotations(validation, own).items()
    assert argument(validation, "--expectations") == f"{mount['mountPath']}/{file}"
    assert json.loads(text) == expectations(pool)


@pytest.mark.field_report("C6b")
def test_a_verdict_ends_the_job_at_once_and_any_other_end_does_not_count(validation: Any) -> None:
    assert validation["backoffLimit"] == 0
    assert validation["template"]["spec"]["restartPolicy"] == "Never"
    ignored = [rule for rule in validation["podFailurePolicy"]["rules"] if rule["action"] == "Ignore"]
    assert ignored == validation["podFailurePolicy"]["rules"]
    codes = [code for rule in ignored for code in rule.get("onExitCodes", {}).get("values", [])]
    assert codes == [EXIT_RETRY]
    assert EXIT_VERDICT not in codes
    of_one_container = [rule for rule in ignored if "containerName" in rule.get("onExitCodes", {})]
    assert of_one_container == [], "the init container may fail to do its work, too"


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


def test_in_mode_warn_nobody_lingers(pool: Any) -> None:
    options = OPTIONS.model_copy(update={"mode": "warn"})
    spec = spec_of(pool, options)
    assert argument(spec, "--linger-seconds") == "0"


def test_a_failed_job_is_replaced_by_the_next_update(pool: Any, validation: Any) -> None:
    assert named_job(pool, validation)["metadata"]["annotations"]["pulumi.com/replaceUnready"] == "true"


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
