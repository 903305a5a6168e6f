"""Stacks with the operators of 26.7: each passes, a second `up` changes nothing, and it is taken away again.

`sriov` goes from 26.4 to 26.7 (test_release_move.py). Each test ends its data centre by itself: with the fixture, all
of them would be there at the end.
"""

from pathlib import Path

import pytest
from lightkube.generic_resource import create_global_resource
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition

from rehearsal.testing.stack import rehearsing
from tests.rehearsal.stacks.conftest import Stack, copy_of_project

pytestmark = pytest.mark.long
NicClusterPolicy = create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies")
OF_THE_OPERATOR = {"gpuclusters.nvidia.com", "computedomains.resource.nvidia.com"}


@pytest.mark.parametrize("name", ["dev", "ipoib", "mixed", "existing", "dra"])
def test_a_stack_of_26_7_passes_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    with rehearsing(copy_of_project(tmp_path / "project"), name, folder=tmp_path / "run") as rehearsed:
        stack = Stack(rehearsed.rehearsal)
        stack.settings(release="26.7")
        made = stack.up()
        assert made.succeeded, made.said
        assert set(stack.verdicts().values()) == {"pass"}
        assert stack.preview().changed == {}
        (policy,) = (dict(found) for found in stack.cluster().list(NicClusterPolicy))
        held = {condition["type"]: condition for condition in policy["status"]["conditions"]}
        assert {condition["status"] for condition in held.values()} == {"True"}
        assert held["Ready"]["observedGeneration"] == policy["metadata"]["generation"]
        definitions = {
            found.metadata.name for found in stack.cluster().list(CustomResourceDefinition) if found.metadata
        }
        has_gpu_operator = any("gpu-operator" in step.name for step in made.steps)
        assert (definitions >= OF_THE_OPERATOR) == has_gpu_operator
        assert stack.rehearsal.not_taken() == []
        destroyed = stack.destroy()
        assert destroyed.succeeded, destroyed.said
