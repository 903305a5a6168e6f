"""An example program as a person has it, in a data centre that the tests of one module share."""

from pathlib import Path

import pytest
from lightkube.resources.core_v1 import Namespace

from rehearsal.testing.plugin import Rehearse
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.stacks.conftest import Stack

EXAMPLES = PROJECT / "examples"


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest, rehearse: Rehearse) -> Stack:
    """The example and the stack that the module names as EXAMPLE and STACK."""
    return Stack(rehearse(EXAMPLES / request.module.EXAMPLE, request.module.STACK).rehearsal)


@pytest.fixture(scope="module")
def brought_up(example: Stack) -> Outcome:
    outcome = example.up()
    assert outcome.succeeded, outcome.said
    return outcome


def destroy_and_keep_machines(example: Stack) -> None:
    """Destroy the stack; the cluster has its machines as before, and none of the namespaces."""
    machines = {node["metadata"]["name"] for node in example.nodes()}
    destroyed = example.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert {node["metadata"]["name"] for node in example.nodes()} == machines
    left = {str(namespace.to_dict()["metadata"]["name"]) for namespace in example.cluster().list(Namespace)}
    assert not left & {"network-operator", "gpu-operator", "aks-infiniband", "aks-infiniband-system"}


def program(example: Stack) -> Path:
    return example.rehearsal.project / "__main__.py"
