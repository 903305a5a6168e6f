"""A program that has nothing of ours is rehearsed as it is. The tests follow one another."""

from typing import Any

import pytest
import yaml
from lightkube.resources.apps_v1 import Deployment

from rehearsal.testing.stack import Outcome
from tests.rehearsal.stacks.conftest import Stack
from tests.snippets import snippets

EXAMPLE, STACK = "plain-aks", "web"
pytestmark = pytest.mark.long


def test_the_release_runs_in_the_cluster_with_the_image_of_the_teams_registry(
    example: Stack, brought_up: Outcome
) -> None:
    outputs = example.outputs()
    (registry,) = example.azure("azure-native:containerregistry:Registry")
    assert outputs["registry"] == f"{registry['outputs']['name']}.azurecr.io"
    shop = example.cluster(outputs["clusterName"]).get(Deployment, "shop", namespace="shop").to_dict()
    assert shop["spec"]["template"]["spec"]["containers"][0]["image"] == f"{outputs['registry']}/shop:1"
    assert shop["status"]["readyReplicas"] == 2


def test_a_second_up_changes_nothing(example: Stack, brought_up: Outcome) -> None:
    again = example.up()
    assert again.succeeded, again.said
    assert again.changed == {}


def test_the_test_that_the_page_shows_passes(example: Stack, brought_up: Outcome) -> None:
    shown: dict[str, Any] = {}
    exec(compile(snippets("rehearse-your-program.md", "python")[0], "docs/rehearse-your-program.md", "exec"), shown)
    shown["test_the_shop_runs"](lambda folder, stack: example)


def test_the_page_describes_the_registry_as_the_example_does(example: Stack) -> None:
    [described] = snippets("rehearse-your-program.md", "yaml")
    assert yaml.safe_load(described) == yaml.safe_load((example.rehearsal.project / "rehearsal.azure.yaml").read_text())


def test_destroy_leaves_nothing_in_azure(example: Stack, brought_up: Outcome) -> None:
    destroyed = example.destroy()
    assert destroyed.succeeded, destroyed.said
    assert example.azure() == []
