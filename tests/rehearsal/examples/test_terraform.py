"""The example of a cluster that Terraform keeps. The tests follow one another."""

import pytest
from lightkube.resources.core_v1 import Namespace

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.stacks.conftest import Stack

EXAMPLE, STACK = "terraform", "lab"

pytestmark = [pytest.mark.long]


@pytest.fixture(scope="module")
def brought_up(example: Stack) -> Outcome:
    outcome = example.up()
    assert outcome.succeeded, outcome.said
    return outcome


def test_the_pool_that_terraform_made_passes_and_no_resource_is_azures(example: Stack, brought_up: Outcome) -> None:
    assert example.verdicts() == {"ndh100": "pass"}
    assert [step.type for step in brought_up.steps if "azure-native" in step.type] == []


def test_destroy_leaves_the_machines(example: Stack, brought_up: Outcome) -> None:
    machines = {node["metadata"]["name"] for node in example.nodes()}
    destroyed = example.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert {node["metadata"]["name"] for node in example.nodes()} == machines
    left = {str(namespace.to_dict()["metadata"]["name"]) for namespace in example.cluster().list(Namespace)}
    assert not left & {"network-operator", "gpu-operator", "aks-infiniband", "aks-infiniband-system"}
