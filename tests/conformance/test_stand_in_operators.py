"""The stand-ins make what the real operators were seen to make: every name that the reference lists."""

import re
from typing import Any

from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot
from tests.conformance.facts import facts

REAL = facts("operator-behaviour.md")
IMAGE = {"image": "thing", "repository": "registry/x", "version": "v1"}
NOW = "2026-01-01T00:00:00Z"
KERNEL = "6.8.0-1025-azure"
NODE = {
    "kind": "Node",
    "metadata": {
        "name": "node",
        "labels": {
            "kubernetes.io/arch": "amd64",
            "feature.node.kubernetes.io/pci-15b3.present": "true",
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
            "feature.node.kubernetes.io/system-os_release.VERSION_ID": "24.04",
            "feature.node.kubernetes.io/kernel-version.full": KERNEL,
        },
    },
    "spec": {},
    "status": {"nodeInfo": {"containerRuntimeVersion": "containerd://2.0.0"}},
}
EVERY_PART = {
    "ofedDriver": IMAGE,
    "rdmaSharedDevicePlugin": {**IMAGE, "config": "{}"},
    "sriovDevicePlugin": {**IMAGE, "config": "{}"},
    "secondaryNetwork": {"cniPlugins": IMAGE, "multus": IMAGE, "ipoib": IMAGE},
    "nvIpam": IMAGE,
    "docaTelemetryService": IMAGE,
}


def operator(name: str, labels: dict[str, str]) -> dict[str, Any]:
    env = [{"name": "OFED_INIT_CONTAINER_IMAGE", "value": "registry/init:v1"}]
    containers = [{"name": name, "image": "registry/operator:v1", "env": env}]
    return {
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": name, "labels": labels},
        "spec": {"template": {"spec": {"containers": containers}}},
        "status": {"conditions": [{"type": "Available", "status": "True"}]},
    }


def network_plan() -> Plan:
    policy = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "NicClusterPolicy",
        "metadata": {"name": "nic-cluster-policy", "uid": "u"},
        "spec": EVERY_PART,
    }
    kinds = {
        "Node": [NODE],
        "NicClusterPolicy": [policy],
        "Deployment": [operator("network-operator", network.OPERATOR_LABELS)],
    }
    return network.reconcile(Snapshot(kinds), now=NOW)


def gpu_plan() -> Plan:
    policy = {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "uid": "u", "creationTimestamp": NOW},
        "spec": {"driver": {**IMAGE, "rdma": {"enabled": True}}, "migManager": {"enabled": False}},
    }
    kinds = {
        "Node": [NODE],
        "ClusterPolicy": [policy],
        "Deployment": [operator("gpu-operator", gpu.OPERATOR_LABELS)],
    }
    return gpu.reconcile(Snapshot(kinds), now=NOW)


def made(plan: Plan, *kinds: str) -> dict[str, Any]:
    return {document["metadata"]["name"]: document for document in plan.objects if document["kind"] in kinds}


def test_network_operator_makes_every_workload_that_the_real_one_makes_and_no_other() -> None:
    ours = set(made(network_plan(), "DaemonSet", "Deployment"))
    drivers = {name for name in ours if re.fullmatch(r"mofed-ubuntu24\.04-[a-z0-9]+-ds", name)}
    assert len(drivers) == 1
    assert ours - drivers == set(REAL["network-operator"]["workloads"])


def test_network_operator_names_the_states_that_the_real_one_names_in_its_order() -> None:
    [(_, status)] = network_plan().statuses
    assert [state["name"] for state in status["appliedStates"]] == REAL["network-operator"]["states"]


def test_network_operator_makes_the_config_maps_that_the_real_one_makes() -> None:
    assert set(made(network_plan(), "ConfigMap")) == set(REAL["network-operator"]["config-maps"])


def test_gpu_operator_makes_every_daemon_set_that_the_real_one_makes_with_its_containers() -> None:
    ours = made(gpu_plan(), "DaemonSet")
    real = REAL["gpu-operator"]["daemon-sets"]
    assert set(ours) == set(real)
    for name, seen in real.items():
        pod = ours[name]["spec"]["template"]["spec"]
        for field, part in (("initContainers", "init"), ("containers", "containers")):
            if part in seen:
                assert [container["name"] for container in pod[field]] == seen[part], name


def test_gpu_operator_labels_nodes_as_the_real_one_does() -> None:
    labels = gpu_plan().node_labels["node"]
    assert {label for label in labels if label.startswith("nvidia.com/gpu.deploy.")} == {
        f"nvidia.com/gpu.deploy.{name}" for name in REAL["gpu-operator"]["deploy-labels"]
    }
    assert labels["nvidia.com/gpu.present"] == "true"
