"""An example program as a person has it, in a data centre that the tests of one module share."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.stacks.conftest import SPEED, Stack

EXAMPLES = PROJECT / "examples"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Stack]:
    """The example and the stack that the module names as EXAMPLE and STACK."""
    folder = tmp_path_factory.mktemp("example")
    project = folder / "project"
    shutil.copytree(EXAMPLES / request.module.EXAMPLE, project, ignore=shutil.ignore_patterns(".rehearsal"))
    run = RunFolder.at(folder / "run")
    rehearsal = Rehearsal(project=project, stack=request.module.STACK, run=run, speed=SPEED)
    with rehearsal.data_centre():
        yield Stack(rehearsal)


def program(example: Stack) -> Path:
    return example.rehearsal.project / "__main__.py"
