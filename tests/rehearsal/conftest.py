"""The project's own program, rehearsed as any user's program: with the fixture `rehearse`."""

from collections.abc import Callable
from typing import Any

import pytest

from rehearsal.testing.plugin import Rehearse
from tests.rehearsal.stacks.conftest import Stack, copy_of_project

RehearseOurs = Callable[..., Stack]


@pytest.fixture(scope="module")
def rehearse_ours(rehearse: Rehearse, tmp_path_factory: pytest.TempPathFactory) -> RehearseOurs:
    """Starts a data centre for one of the project's stacks: `rehearse_ours("dev")`, with the options of `rehearse`."""

    def begin(stack: str, **options: Any) -> Stack:
        project = copy_of_project(tmp_path_factory.mktemp("ours") / "project")
        return Stack(rehearse(project, stack, **options).rehearsal)

    return begin
