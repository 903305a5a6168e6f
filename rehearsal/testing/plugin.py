"""The fixture `rehearse`, which pytest finds by itself if the rehearsal is installed."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:  # it takes seconds to import, and most sessions of pytest rehearse nothing
    from rehearsal.testing.stack import RehearsedStack

Rehearse = Callable[..., "RehearsedStack"]


@pytest.fixture(scope="module")
def rehearse(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearse]:
    """Starts a data centre for a stack of a program, and gives the stack; everything ends with the module's tests.

    `rehearse(project, stack)`, with what `rehearsing` takes: speed, clusters, subscription, charts, operators,
    real_tools. `rehearse(project, stack, kept=True)` starts nothing: it gives the stack that was kept, as `kept` says.
    """
    from rehearsal.testing import stack as stacks  # noqa: PLC0415

    with ExitStack() as running:

        def begin(project: Path | str, stack: str, *, kept: bool = False, **options: Any) -> "RehearsedStack":
            if kept:
                return stacks.kept(Path(project), stack, **options)
            folder = tmp_path_factory.mktemp("rehearsal")
            return running.enter_context(stacks.rehearsing(Path(project), stack, folder=folder, **options))

        yield begin
