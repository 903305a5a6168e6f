"""An example program as a person has it, in a data centre that the tests of one module share."""

from pathlib import Path

import pytest

from rehearsal.testing.plugin import Rehearse
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.stacks.conftest import Stack

EXAMPLES = PROJECT / "examples"


@pytest.fixture(scope="module")
def example(request: pytest.FixtureRequest, rehearse: Rehearse) -> Stack:
    """The example and the stack that the module names as EXAMPLE and STACK."""
    return Stack(rehearse(EXAMPLES / request.module.EXAMPLE, request.module.STACK).rehearsal)


def program(example: Stack) -> Path:
    return example.rehearsal.project / "__main__.py"
