"""AKS owns the GPU driver, and every image comes from a mirror that asks who pulls. The tests follow one another."""

from typing import Any

import pytest
import yaml
from lightkube.resources.apps_v1 import DaemonSet, Deployment
from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

STACK = "dev"
MIRROR = "mirror.example.com/aks"
OURS = ("network-operator", "gpu-operator", "aks-infiniband")


@pytest.fixture(scope="module", autouse=True)
def changed(stack: Stack) -> None:
    pool = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "gpuDriver": "aks"}
    stack.settings(pools=[pool], registry={"images": MIRROR})
    document = yaml.safe_load(stack.file.read_text())
    document["config"]["aks-infiniband:registryCredentials"] = {"secure": "v1:only-the-real-engine-can-read-it"}
    stack.file.write_text(yaml.safe_dump(document))


def pod_specs(stack: Stack) -> list[dict[str, Any]]:
    """Of everything that the program, the charts and the operators run."""
    client = stack.cluster()
    found: list[dict[str, Any]] = []
    for namespace in OURS:
        found += [
            daemon_set.to_dict()["spec"]["template"]["spec"]
            for daemon_set in client.list(DaemonSet, namespace=namespace)
        ]
        found += [
            deployment.to_dict()["spec"]["template"]["spec"]
            for deployment in client.list(Deployment, namespace=namespace)
        ]
        found += [pod.to_dict()["spec"] for pod in client.list(Pod, namespace=namespace)]
    return found


@pytest.mark.field_report("A4", "B3")
def test_azures_own_gpu_driver_is_left_in_place_and_gpudirect_is_switched_on(stack: Stack, brought_up: Outcome) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool="ndh100")]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    sets = {
        daemon_set.to_dict()["metadata"]["name"]
        for daemon_set in stack.cluster().list(DaemonSet, namespace="gpu-operator")
    }
    assert "nvidia-device-plugin-daemonset" in sets
    assert not sets & {"nvidia-driver-daemonset", "nvidia-container-toolkit-daemonset"}
    ours = {
        daemon_set.to_dict()["metadata"]["name"]
        for daemon_set in stack.cluster().list(DaemonSet, namespace="aks-infiniband")
    }
    assert [name for name in ours if "peermem" in name]
    assert stack.verdicts() == {"ndh100": "pass"}


@pytest.mark.field_report("C11")
def test_every_image_comes_from_the_mirror_with_its_secret(stack: Stack, brought_up: Outcome) -> None:
    specs = pod_specs(stack)
    images = {
        container["image"] for spec in specs for container in (*spec["containers"], *spec.get("initContainers", []))
    }
    assert len(images) > 8
    assert [image for image in images if not image.startswith(f"{MIRROR}/")] == []
    lacking = [
        [container["image"] for container in spec["containers"]]
        for spec in specs
        if {"name": "aks-infiniband-registry"} not in spec.get("imagePullSecrets", [])
    ]
    assert lacking == []


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}
