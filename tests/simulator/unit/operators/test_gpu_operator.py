"""The GPU Operator's reconcile: from a ClusterPolicy to what the real operator makes of it."""

from typing import Any

import pytest
from aks_infiniband_cli.bad_machines.evidence.dcgm.asking import HostEngine, engine_on

from rehearsal.machines.pods.behaviours import behaviours
from rehearsal.operators.gpu.reconcile import OPERATOR_LABELS, reconcile
from rehearsal.operators.plan import Plan, labels_of
from tests.simulator.unit.operators.gpu_policies import IMAGE, NOW, SPEC, TOLERATION, apply_policy

OPERANDS = {
    "nvidia-driver-daemonset": ["k8s-driver-manager"],
    "nvidia-container-toolkit-daemonset": ["driver-validation"],
    "nvidia-device-plugin-daemonset": ["toolkit-validation"],
    "nvidia-operator-validator": ["driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"],
    "nvidia-dcgm-exporter": ["toolkit-validation"],
    "gpu-feature-discovery": ["toolkit-validation"],
    "nvidia-device-plugin-mps-control-daemon": ["toolkit-validation", "mps-control-daemon-mounts"],
}


def daemon_sets(cluster: Any) -> dict[str, Any]:
    plan = reconcile(cluster.snapshot(), now=NOW)
    return {d["metadata"]["name"]: d for d in plan.objects if d["kind"] == "DaemonSet"}


def conditions(policy: Any) -> dict[str, tuple[str, str]]:
    return {c["type"]: (c["status"], c["reason"]) for c in policy["status"]["conditions"]}


def test_does_nothing_while_its_own_deployment_is_not_available(cluster: Any) -> None:
    cluster.operator("gpu-operator", OPERATOR_LABELS, available=False)
    cluster.node("gpu-0", gpu=True)
    apply_policy(cluster)
    assert reconcile(cluster.snapshot(), now=NOW) == Plan()


def test_nodes_with_gpus_get_the_labels_that_its_pods_select(with_gpus: Any, settle: Any) -> None:
    apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    labels = labels_of(with_gpus.objects["Node"]["gpu-0"])
    assert labels["nvidia.com/gpu.present"] == "true"
    assert sorted(label.rpartition(".")[2] for label in labels if label.startswith("nvidia.com/gpu.deploy.")) == [
        "container-toolkit",
        "dcgm",
        "dcgm-exporter",
        "device-plugin",
        "driver",
        "gpu-feature-discovery",
        "node-status-exporter",
        "operator-validator",
    ]
    assert not any(label.startswith("nvidia.com/") for label in labels_of(with_gpus.objects["Node"]["system-0"]))


def test_node_without_a_containerd_version_is_not_labelled(with_gpus: Any) -> None:
    with_gpus.objects["Node"]["gpu-0"]["status"]["nodeInfo"]["containerRuntimeVersion"] = ""
    apply_policy(with_gpus)
    assert "gpu-0" not in reconcile(with_gpus.snapshot(), now=NOW).node_labels


def test_node_that_lost_its_gpu_loses_its_labels(with_gpus: Any, settle: Any) -> None:
    apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    del with_gpus.objects["Node"]["gpu-0"]["metadata"]["labels"]["feature.node.kubernetes.io/pci-10de.present"]
    settle(with_gpus, reconcile)
    labels = labels_of(with_gpus.objects["Node"]["gpu-0"])
    assert not any(label.startswith("nvidia.com/gpu.deploy.") for label in labels)
    assert labels["nvidia.com/gpu.present"] == "false"


def test_a_label_that_somebody_has_set_keeps_that_operand_off_the_node(with_gpus: Any, settle: Any) -> None:
    key = "nvidia.com/gpu.deploy.driver"
    with_gpus.objects["Node"]["gpu-0"]["metadata"]["labels"][key] = "false"
    apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    labels = labels_of(with_gpus.objects["Node"]["gpu-0"])
    assert (labels[key], labels["nvidia.com/gpu.deploy.device-plugin"]) == ("false", "true")


def test_a_node_with_operands_switched_off_gets_no_operand_and_loses_those_that_it_had(
    with_gpus: Any, settle: Any
) -> None:
    apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    with_gpus.objects["Node"]["gpu-0"]["metadata"]["labels"]["nvidia.com/gpu.deploy.operands"] = "false"
    settle(with_gpus, reconcile)
    labels = labels_of(with_gpus.objects["Node"]["gpu-0"])
    assert [key for key in labels if key.startswith("nvidia.com/gpu.deploy.")] == ["nvidia.com/gpu.deploy.operands"]
    assert labels["nvidia.com/gpu.present"] == "true", "it has GPUs all the same"


def test_with_azures_driver_the_operator_brings_neither_driver_nor_toolkit_and_uses_azures_runtime_class(
    with_gpus: Any,
) -> None:
    off = {**IMAGE, "enabled": False}
    apply_policy(with_gpus, driver=off, toolkit=off, operator={"runtimeClass": "nvidia-container-runtime"})
    made = daemon_sets(with_gpus)
    assert not {"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"} & set(made)
    plugin = made["nvidia-device-plugin-daemonset"]["spec"]["template"]["spec"]
    assert plugin["runtimeClassName"] == "nvidia-container-runtime"
    classes = [d for d in reconcile(with_gpus.snapshot(), now=NOW).objects if d["kind"] == "RuntimeClass"]
    names = ("nvidia-container-runtime", "nvidia-cdi", "nvidia-legacy")
    assert [(item["metadata"]["name"], item["handler"]) for item in classes] == [(name, name) for name in names]


def test_images_and_pull_secrets_are_those_of_the_policy(with_gpus: Any) -> None:
    mirror = {"repository": "mirror.example/nvidia", "image": "thing", "version": "v1", "imagePullSecrets": ["mine"]}
    parts = ("driver", "toolkit", "devicePlugin", "dcgmExporter", "gfd", "validator")
    apply_policy(with_gpus, **{part: {**mirror, "enabled": True, "manager": mirror} for part in parts})
    for name, document in daemon_sets(with_gpus).items():
        pod = document["spec"]["template"]["spec"]
        images = [c["image"] for c in (*pod["containers"], *pod.get("initContainers", ()))]
        assert all(image.startswith("mirror.example/nvidia/thing:") for image in images), name
        assert pod["imagePullSecrets"] == [{"name": "mine"}], name


def test_dcgm_where_the_policy_asks_for_it_is_what_the_evidence_looks_for(with_gpus: Any) -> None:
    apply_policy(with_gpus, dcgm={**IMAGE, "enabled": True})
    template = daemon_sets(with_gpus)["nvidia-dcgm"]["spec"]["template"]
    status = {"podIP": "10.244.1.7", "containerStatuses": [{"ready": True, "state": {"running": {}}}]}
    owners = [{"kind": "DaemonSet", "name": "nvidia-dcgm", "controller": True}]
    there = {"name": "nvidia-dcgm-x", "namespace": "gpu-operator", **template["metadata"], "ownerReferences": owners}
    pod = {"metadata": there, "spec": {**template["spec"], "nodeName": "gpu-0"}, "status": status}
    asked = HostEngine(pod="gpu-operator/nvidia-dcgm-x", address="10.244.1.7", image="registry/x/thing:v1")
    assert engine_on("gpu-0", [pod]) == asked
    assert [row for row, behaviour in behaviours().items() if behaviour.matches(pod)] == ["gpuHostEngine"]


def test_operands_are_the_real_ones_with_their_init_containers(with_gpus: Any) -> None:
    apply_policy(with_gpus)
    found = {
        name: [c["name"] for c in document["spec"]["template"]["spec"].get("initContainers", ())]
        for name, document in daemon_sets(with_gpus).items()
    }
    assert found == OPERANDS


def test_operands_tolerate_and_select_as_the_policy_says(with_gpus: Any) -> None:
    apply_policy(with_gpus)
    for name, document in daemon_sets(with_gpus).items():
        pod = document["spec"]["template"]["spec"]
        assert document["spec"]["selector"]["matchLabels"]["app"] == name
        assert pod["tolerations"] == [TOLERATION]
        assert all(key.startswith("nvidia.com/") for key in pod["nodeSelector"])


def test_no_daemon_set_is_made_while_no_node_has_a_gpu_and_the_policy_is_ready_all_the_same(
    cluster: Any, settle: Any
) -> None:
    cluster.operator("gpu-operator", OPERATOR_LABELS)
    cluster.node("system-0", nic=False)
    policy = apply_policy(cluster)
    settle(cluster, reconcile)
    assert "DaemonSet" not in cluster.objects
    assert policy["status"]["state"] == "ready"
    assert conditions(policy) == {"Ready": ("True", "NoGPUNodes"), "Error": ("False", "Ready")}


@pytest.mark.parametrize(
    ("rdma", "containers"), [(True, ["nvidia-driver-ctr", "nvidia-peermem-ctr"]), (False, ["nvidia-driver-ctr"])]
)
def test_peermem_is_kept_loaded_when_the_policy_asks_for_rdma(
    with_gpus: Any, rdma: bool, containers: list[str]
) -> None:
    apply_policy(with_gpus, driver={**SPEC["driver"], "rdma": {"enabled": rdma}})
    driver = daemon_sets(with_gpus)["nvidia-driver-daemonset"]["spec"]["template"]["spec"]
    assert [c["name"] for c in driver["containers"]] == containers
    assert driver["containers"][0]["image"] == "registry/x/thing:v1-ubuntu24.04"


def test_toolkit_environment_reaches_the_toolkit(with_gpus: Any) -> None:
    apply_policy(with_gpus)
    [container] = daemon_sets(with_gpus)["nvidia-container-toolkit-daemonset"]["spec"]["template"]["spec"]["containers"]
    assert {"name": "RUNTIME_CONFIG_SOURCE", "value": "file"} in container["env"]


def test_operand_that_is_switched_off_leaves_the_cluster(with_gpus: Any, settle: Any) -> None:
    policy = apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    policy["spec"] = {**SPEC, "driver": {**SPEC["driver"], "enabled": False}}
    settle(with_gpus, reconcile)
    assert "nvidia-driver-daemonset" not in with_gpus.objects["DaemonSet"]


def test_policy_is_ready_when_every_operand_is_and_none_desired_counts_as_ready(with_gpus: Any, settle: Any) -> None:
    policy = apply_policy(with_gpus)
    settle(with_gpus, reconcile)
    assert policy["status"]["state"] == "notReady"
    assert conditions(policy) == {"Ready": ("False", "Error"), "Error": ("True", "OperandNotReady")}
    with_gpus.revision("nvidia-driver-daemonset", 1)
    for name in with_gpus.objects["DaemonSet"]:
        with_gpus.scheduled(name, 0 if name.endswith("mps-control-daemon") else 1)
    settle(with_gpus, reconcile)
    assert policy["status"]["state"] == "notReady", "the driver's pod is not there"
    with_gpus.pod("nvidia-driver-daemonset", "gpu-0", ready=True)
    settle(with_gpus, reconcile)
    assert policy["status"]["state"] == "ready"
    assert conditions(policy) == {"Ready": ("True", "Reconciled"), "Error": ("False", "Ready")}


def test_condition_keeps_the_time_of_its_last_change(with_gpus: Any, settle: Any) -> None:
    policy = apply_policy(with_gpus)
    policy["status"] = {
        "state": "notReady",
        "conditions": [{"type": "Error", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}],
    }
    settle(with_gpus, reconcile)
    times = {c["type"]: c["lastTransitionTime"] for c in policy["status"]["conditions"]}
    assert times == {"Error": "2020-01-01T00:00:00Z", "Ready": NOW}


def test_only_the_oldest_policy_counts(with_gpus: Any, settle: Any) -> None:
    apply_policy(with_gpus)
    other = with_gpus.policy(SPEC, kind="ClusterPolicy", name="another")
    settle(with_gpus, reconcile)
    assert other["status"] == {"state": "ignored"}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB"}, "true"),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB", "nvidia.com/mig.capable": "false"}, None),
        ({"nvidia.com/gpu.product": "NVIDIA-V100-32GB"}, None),
    ],
)
def test_gpus_that_can_be_split_are_labelled_for_a_mig_manager_also_where_it_is_off(
    with_gpus: Any, labels: dict[str, str], expected: str | None
) -> None:
    apply_policy(with_gpus)
    with_gpus.objects["Node"]["gpu-0"]["metadata"]["labels"].update(labels)
    asked = reconcile(with_gpus.snapshot(), now=NOW).node_labels["gpu-0"]
    assert asked.get("nvidia.com/gpu.deploy.mig-manager") == expected


def test_everything_goes_with_the_policy_that_owns_it(with_gpus: Any) -> None:
    policy = apply_policy(with_gpus)
    objects = reconcile(with_gpus.snapshot(), now=NOW).objects
    assert {d["kind"] for d in objects} == {"RuntimeClass", "ServiceAccount", "ConfigMap", "DaemonSet"}
    for document in objects:
        [owner] = document["metadata"]["ownerReferences"]
        assert owner["uid"] == policy["metadata"]["uid"]
