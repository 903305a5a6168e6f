"""The example of a cluster that Terraform keeps. The tests follow one another."""

import pytest

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.stacks.conftest import Stack

from .conftest import destroy_and_keep_machines

EXAMPLE, STACK = "terraform", "lab"

pytestmark = [pytest.mark.long]


def test_the_pool_that_terraform_made_passes_and_no_resource_is_azures(example: Stack, brought_up: Outcome) -> None:
    assert example.verdicts() == {"ndh100": "pass"}
    assert [step.type for step in brought_up.steps if "azure-native" in step.type] == []


def test_destroy_leaves_the_machines(example: Stack, brought_up: Outcome) -> None:
    destroy_and_keep_machines(example)
