"""The stand-ins make what the real operators were seen to make: every name that the reference lists."""

import re
from pathlib import Path
from typing import Any

import pytest

from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot

BEHAVIOUR = Path(__file__).parents[3] / "shared" / "reference" / "operator-behaviour.md"
IMAGE = {"image": "thing", "repository": "registry/x", "version": "v1"}
NOW = "2026-01-01T00:00:00Z"
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
            "feature.node.kubernetes.io/kernel-version.full": "6.8.0-1025-azure",
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


def section(heading: str) -> str:
    if not BEHAVIOUR.is_file():
        pytest.skip(f"what the real operators do is not here: {BEHAVIOUR} does not exist")
    return next(part for part in BEHAVIOUR.read_text().split("\n## ") if part.startswith(heading))


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


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
    named = [name for first, *_ in rows(section("Network Operator")) for name in quoted(first)]
    real = {name for name in named if "<" not in name and not name.startswith("install-")}
    ours = set(made(network_plan(), "DaemonSet", "Deployment"))
    drivers = {name for name in ours if re.fullmatch(r"mofed-ubuntu24\.04-[a-z0-9]+-ds", name)}
    assert len(drivers) == 1
    assert ours - drivers == real


def test_network_operator_names_the_states_that_the_real_one_names_in_its_order() -> None:
    text = section("Network Operator").partition("`.status.appliedStates` names:")[2].partition(";")[0]
    [(_, status)] = network_plan().statuses
    assert [state["name"] for state in status["appliedStates"]] == re.findall(r"state-[A-Za-z-]+", text)


def test_network_operator_makes_the_config_maps_that_the_real_one_makes() -> None:
    text = section("Network Operator")
    real = {"rdma-devices", "network-operator-sriovdp-config", "ofed-init-container-config", "doca-telemetry-service"}
    assert real <= set(quoted(text))
    assert set(made(network_plan(), "ConfigMap")) == real


def test_gpu_operator_makes_every_daemon_set_that_the_real_one_makes_with_its_containers() -> None:
    ours = made(gpu_plan(), "DaemonSet")
    table = rows(section("GPU Operator"))
    assert set(ours) == {name for first, *_ in table for name in quoted(first)}
    for first, init, containers, *_ in table:
        for name in quoted(first):
            pod = ours[name]["spec"]["template"]["spec"]
            validations = [f"{word}-validation" for word in re.findall(r"([a-z]+)-(?=,|validation)", init)]
            if init:
                assert [c["name"] for c in pod["initContainers"]] == (validations or [init])
            if containers.startswith("nvidia"):
                listed = re.findall(r"nvidia-[a-z-]+[a-z]", containers)
                assert [c["name"] for c in pod["containers"]] == listed


def test_gpu_operator_labels_nodes_as_the_real_one_does() -> None:
    text = section("GPU Operator")
    names = text.partition("gpu.deploy.{")[2].partition("}")[0].split(",")
    labels = gpu_plan().node_labels["node"]
    assert {label for label in labels if label.startswith("nvidia.com/gpu.deploy.")} == {
        f"nvidia.com/gpu.deploy.{name}" for name in names
    }
    assert labels["nvidia.com/gpu.present"] == "true"
