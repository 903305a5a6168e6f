"""AMD's GPU Operator as a stand-in: what it makes of DeviceConfigs, and what it says of them."""

from typing import Any

import pytest

from rehearsal.operators.amd import reconcile as amd
from rehearsal.operators.plan import Plan

from .conftest import Cluster

Document = dict[str, Any]
NAMESPACE = "kube-amd-gpu"
LABEL = {"feature.node.kubernetes.io/amd-vgpu": "true"}
DRIVER = "gpu.operator.amd.com/kube-amd-gpu.nda.driver"
READY = "kmm.node.kubernetes.io/kube-amd-gpu.nda.ready"
OPERATOR = {"app.kubernetes.io/component": "amd-gpu", "control-plane": "controller-manager"}
KMM = {"app.kubernetes.io/component": "kmm", "control-plane": "controller"}


def config(cluster: Cluster, name: str = "nda", *, driver: bool = False) -> Document:
    return cluster.add(
        {
            "apiVersion": "amd.com/v1alpha1",
            "kind": "DeviceConfig",
            "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1},
            "spec": {"selector": dict(LABEL), "driver": {"enable": driver}, "metricsExporter": {"enable": True}},
        }
    )


def reconcile(cluster: Cluster) -> Plan:
    return amd.reconcile(cluster.snapshot(), now="2026-01-01T00:10:00Z")


def said(plan: Plan) -> dict[str, tuple[str, str]]:
    """By DeviceConfig: whether it is Ready, and why."""
    found = {}
    for document, status in plan.statuses:
        (ready,) = [each for each in status["conditions"] if each["type"] == "Ready"]
        found[document["metadata"]["name"]] = (ready["status"], ready["reason"])
    return found


@pytest.fixture
def amds() -> Cluster:
    """A cluster with AMD's operator and a node of its GPUs."""
    cluster = Cluster()
    cluster.operator("amd-gpu-operator-controller-manager", OPERATOR)
    node = cluster.node("a")
    node["metadata"]["labels"].update(LABEL)
    node["status"]["nodeInfo"] |= {"osImage": "Ubuntu 24.04.3 LTS", "kernelVersion": "6.8.0-1030-azure"}
    cluster.node("n", gpu=True)
    return cluster


def test_it_is_ready_once_its_daemon_sets_are_asked_for_whatever_becomes_of_their_pods(amds: Cluster) -> None:
    config(amds)
    plan = reconcile(amds)
    names = [document["metadata"]["name"] for document in plan.objects]
    assert names == ["nda-device-plugin", "nda-node-labeller", "nda-metrics-exporter"]
    assert all(document["spec"]["template"]["spec"]["nodeSelector"] == LABEL for document in plan.objects)
    assert said(plan) == {"nda": ("True", "OperatorReady")}


def test_without_a_node_of_its_labels_it_is_not_ready_and_makes_nothing(amds: Cluster) -> None:
    del amds.objects["Node"]["a"]
    config(amds)
    plan = reconcile(amds)
    assert not plan.objects
    assert said(plan) == {"nda": ("False", "NoMatchingNodes")}


def test_two_for_one_node_are_both_refused(amds: Cluster) -> None:
    config(amds)
    config(amds, "other")
    assert said(reconcile(amds)) == dict.fromkeys(("nda", "other"), ("False", "ValidationError"))


def test_without_its_own_deployment_nothing_happens(amds: Cluster) -> None:
    amds.objects["Deployment"].clear()
    config(amds)
    plan = reconcile(amds)
    assert not plan.objects
    assert not plan.statuses


def test_the_driver_is_loaded_by_a_pod_on_each_node_and_then_plugin_and_exporter_may_run_there(amds: Cluster) -> None:
    amds.operator("amd-gpu-operator-kmm-controller", KMM)
    config(amds, driver=True)
    plan = reconcile(amds)
    sets = {document["metadata"]["name"]: document for document in plan.objects if document["kind"] == "DaemonSet"}
    waits = {name: READY in one["spec"]["template"]["spec"]["nodeSelector"] for name, one in sets.items()}
    assert waits == {"nda-device-plugin": True, "nda-node-labeller": False, "nda-metrics-exporter": True}
    (worker,) = [document for document in plan.objects if document["kind"] == "Pod"]
    assert worker["metadata"]["name"] == "kmm-worker-a-nda"
    amds.obey(plan)
    assert READY not in str(reconcile(amds).node_labels)
    amds.objects["Pod"]["kmm-worker-a-nda"]["status"] = {"containerStatuses": [{"ready": True}]}
    loaded = reconcile(amds)
    assert loaded.node_labels == {"a": {READY: ""}}, "the driver's type is there already"
    amds.obey(loaded)
    amds.objects["Node"]["a"]["metadata"]["labels"][READY] = ""
    assert [pod["metadata"]["name"] for pod in reconcile(amds).deletions] == ["kmm-worker-a-nda"]


def test_after_a_reboot_the_driver_is_loaded_anew(amds: Cluster) -> None:
    amds.operator("amd-gpu-operator-kmm-controller", KMM)
    config(amds, driver=True)
    node = amds.objects["Node"]["a"]
    node["metadata"]["labels"][READY] = ""
    node["metadata"]["annotations"] = {"rehearsal.aks-infiniband/kmm-boot": "first"}
    node["status"]["nodeInfo"]["bootID"] = "first"
    assert not [document for document in reconcile(amds).objects if document["kind"] == "Pod"]
    node["status"]["nodeInfo"]["bootID"] = "second"
    plan = reconcile(amds)
    assert [document["kind"] for document in plan.objects].count("Pod") == 1
    assert plan.node_labels == {"a": {DRIVER: "container", READY: None}}


def test_the_drivers_image_is_tagged_by_system_kernel_and_version(amds: Cluster) -> None:
    amds.operator("amd-gpu-operator-kmm-controller", KMM)
    config(amds, driver=True)["spec"]["driver"] |= {"image": "mine.azurecr.io/amdgpu", "version": "30.20.1"}
    (worker,) = [document for document in reconcile(amds).objects if document["kind"] == "Pod"]
    assert worker["spec"]["containers"][0]["image"] == "mine.azurecr.io/amdgpu:ubuntu-24.04-6.8.0-1030-azure-30.20.1"


def test_a_device_config_stays_until_the_operator_has_cleaned_up_after_it(amds: Cluster) -> None:
    made = config(amds, driver=True)
    node = amds.objects["Node"]["a"]
    plan = reconcile(amds)
    assert plan.finalizers == [(made, ["amd.node.kubernetes.io/deviceconfig-finalizer"])]
    made["metadata"] |= {"finalizers": plan.finalizers[0][1], "deletionTimestamp": "2026-01-01T00:11:00Z", "uid": "u"}
    node["metadata"]["labels"] |= {DRIVER: "container", READY: ""}
    amds.add(
        {
            "kind": "DaemonSet",
            "metadata": {"name": "nda-device-plugin", "namespace": NAMESPACE, "ownerReferences": [{"uid": "u"}]},
        }
    )
    cleaning = reconcile(amds)
    assert [found["metadata"]["name"] for found in cleaning.deletions] == ["nda-device-plugin"]
    assert cleaning.node_labels == {"a": {DRIVER: None, READY: None}}
    assert cleaning.finalizers == []
    amds.objects["DaemonSet"].clear()
    assert reconcile(amds).finalizers == [(made, [])]
    amds.objects["Deployment"].clear()
    assert reconcile(amds).finalizers == [], "an operator that is gone lets nothing go"
