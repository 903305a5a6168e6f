"""The stack `existing`: a cluster that somebody else made and keeps. The tests follow one another."""

import pytest
from lightkube.resources.core_v1 import Namespace

from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack

STACK = "existing"


def test_a_preview_where_nothing_is_there_yet_finds_nothing_wrong(stack: Stack) -> None:
    planned = stack.preview()
    assert planned.succeeded, planned.said
    assert set(planned.changed.values()) == {"create"}


def test_nodes_are_known_by_their_labels_and_no_azure_resource_is_made(stack: Stack, brought_up: Outcome) -> None:
    assert not [step for step in brought_up.steps if "azure-native" in step.type]
    offered = [node["status"]["allocatable"] for node in stack.nodes(**{"example.com__fabric": "ndh100"})]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    assert stack.verdicts() == {"ndh100": "pass"}


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


@pytest.mark.field_report("B18", "D11")
def test_destroy_takes_custom_resources_before_their_operator_and_leaves_the_cluster(
    stack: Stack, brought_up: Outcome
) -> None:
    nodes = {node["metadata"]["name"] for node in stack.nodes()}
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    order = [f"{step.type.rsplit(':', 1)[-1]} {step.name}" for step in destroyed.steps if step.operation == "delete"]
    policy = next(place for place, what in enumerate(order) if what.startswith("NicClusterPolicy"))
    release = next(
        place for place, what in enumerate(order) if what.startswith("Release") and "network-operator" in what
    )
    assert policy < release
    assert {node["metadata"]["name"] for node in stack.nodes()} == nodes, "they are somebody else's"
    left = {str(namespace.to_dict()["metadata"]["name"]) for namespace in stack.cluster().list(Namespace)}
    assert not left & {"network-operator", "gpu-operator", "aks-infiniband", "aks-infiniband-system"}
