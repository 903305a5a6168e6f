"""A running cluster goes from the operators of 26.4 to those of 26.7: previewed, one node first, measured, then all."""

from collections.abc import Collection
from typing import Any

import pytest
from lightkube.generic_resource import create_global_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import DaemonSet, Deployment

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.waiting import eventually

from .conftest import Stack
from .rolling import GPU_OPERATOR, NETWORK_OPERATOR, driver_images, gpu_driver_images, rolling_out

pytestmark = pytest.mark.long
STACK = "sriov"
NicClusterPolicy = create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies")


def definitions(stack: Stack) -> set[str]:
    found = stack.cluster().list(CustomResourceDefinition)
    return {str(definition.metadata.name) for definition in found if definition.metadata}


def images(stack: Stack, namespace: str) -> set[str]:
    """Images of an operator and of all that it runs, as the templates have them."""
    listed: list[Any] = [*stack.cluster().list(Deployment, namespace=namespace)]
    listed += stack.cluster().list(DaemonSet, namespace=namespace)
    templates = [item.to_dict()["spec"]["template"]["spec"] for item in listed]
    return {container["image"] for template in templates for container in template["containers"]}


def test_the_preview_names_both_releases_and_the_policy_and_no_machine(stack: Stack, brought_up: Outcome) -> None:
    assert "gpuclusters.nvidia.com" not in definitions(stack)
    stack.settings(release="26.7")
    planned = stack.preview()
    assert planned.succeeded, planned.said
    changed = {what: how for what, how in planned.changed.items() if not what.startswith(("Job", "Stash", "ConfigMap"))}
    assert changed == {
        "Release rdma-network-operator": "update",
        "Release rdma-gpu-operator": "update",
        "NicClusterPolicy rdma-nic-cluster-policy": "update",
    }


def test_the_gpu_operators_half_is_measured_on_the_first_node(stack: Stack, brought_up: Outcome) -> None:
    before = gpu_driver_images(stack)
    first, other = sorted(before)
    with rolling_out(stack, GPU_OPERATOR, "--driver", "gpu", "--first", first) as (found, updated):
        assert updated.result().succeeded, updated.result().said
    assert (found["accepted"], found["shortfalls"], found["released"]) == (True, [], [other])
    assert "595.91.07" in found["driver"]["now"]
    assert "nvidia-device-plugin-daemonset" in found["not_held"], "Kubernetes replaces those on every node"
    eventually(lambda: gpu_driver_images(stack) == dict.fromkeys(before, found["driver"]["now"]), seconds=300)
    assert "gpuclusters.nvidia.com" in definitions(stack), "the chart's hook brings it; Helm would not"
    assert "computedomains.resource.nvidia.com" not in definitions(stack), "of these it brings none"
    assert {image.rpartition(":")[2] for image in images(stack, "gpu-operator") if "/gpu-operator:" in image} == {
        "v26.7.0"
    }


def at_rest(stack: Stack, names: Collection[str]) -> bool:
    """True if these nodes may be measured: an upgrade of GPU drivers uncordons the last one after its driver is new."""
    nodes = [node for node in stack.nodes() if node["metadata"]["name"] in names]
    return all(
        not node["spec"].get("unschedulable") and node["status"]["allocatable"].get("nvidia.com/gpu") == "8"
        for node in nodes
    )


def test_the_network_operators_half_is_too(stack: Stack, brought_up: Outcome) -> None:
    before = driver_images(stack)
    eventually(lambda: at_rest(stack, before), seconds=300)
    first, other = sorted(before)
    with rolling_out(stack, NETWORK_OPERATOR, "--first", first) as (found, updated):
        assert updated.result().succeeded, updated.result().said
    assert (found["accepted"], found["released"]) == (True, [other]), found["shortfalls"]
    assert "doca3.5.0-26.07" in found["driver"]["now"]
    eventually(lambda: driver_images(stack) == dict.fromkeys(before, found["driver"]["now"]), seconds=300)


def test_the_rest_is_one_up_after_which_nothing_of_26_4_runs(stack: Stack, brought_up: Outcome) -> None:
    done = stack.up()
    assert done.succeeded, done.said
    assert set(stack.verdicts().values()) == {"pass"}
    assert stack.preview().changed == {}
    assert not [
        image for place in ("network-operator", "gpu-operator") for image in images(stack, place) if "26.4" in image
    ]
    (policy,) = (dict(found) for found in stack.cluster().list(NicClusterPolicy))
    held = {condition["type"]: condition for condition in policy["status"]["conditions"]}
    assert (held["Ready"]["status"], held["OFEDDriverReady"]["status"]) == ("True", "True")
    assert held["Ready"]["observedGeneration"] == policy["metadata"]["generation"]


def test_destroy_leaves_nothing(stack: Stack, brought_up: Outcome) -> None:
    destroyed = stack.destroy()
    assert destroyed.succeeded, destroyed.said
    assert stack.nodes() == []
