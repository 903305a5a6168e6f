"""The stack `ipoib`: CPU machines whose pods get net1, an interface on InfiniBand. The tests follow one another."""

import json

import pytest
from lightkube.generic_resource import create_namespaced_resource

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

STACK = "ipoib"
NetworkAttachmentDefinition = create_namespaced_resource(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)


def test_pods_on_the_pool_join_the_fabrics_network(stack: Stack, brought_up: Outcome) -> None:
    pool = stack.outputs()["pools"]["hbv4"]
    wanted = pool["podTemplate"]["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"]
    found = [dict(network) for network in stack.cluster().list(NetworkAttachmentDefinition, namespace="aks-infiniband")]
    assert [item["metadata"]["name"] for item in found] == [wanted.rpartition("/")[2]]
    (network,) = found
    assert json.loads(network["spec"]["config"])["type"] == "ipoib"


@pytest.mark.field_report("B17")
def test_every_pod_of_the_validation_had_an_address_of_its_own_on_net1(stack: Stack, brought_up: Outcome) -> None:
    report = stack.outputs()["pools"]["hbv4"]["validation"]
    assert report["verdict"] == "pass"
    interfaces = [check for check in report["checks"] if "net1" in json.dumps(check)]
    assert {check["node"] for check in interfaces} >= set(report["nodes"])
    assert {check["verdict"] for check in interfaces} == {"pass"}


def test_machines_without_gpus_get_no_gpu_operator(stack: Stack, brought_up: Outcome) -> None:
    assert not [name for name in brought_up.done if "gpu" in name]
    assert all("nvidia.com/gpu" not in node["status"]["allocatable"] for node in stack.nodes(agentpool="hbv4"))


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


def test_destroy_leaves_no_node(stack: Stack, brought_up: Outcome) -> None:
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert stack.nodes() == []
