"""Modules in which an engine is killed name their stack, and what the engine is killed at (kills.py)."""

import pytest

from rehearsal.session import Rehearsal
from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.interruption.kills import of_the_module


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """As kills.py says."""
    of_the_module(metafunc)


@pytest.fixture(scope="module")
def rehearsal(request: pytest.FixtureRequest, rehearse_ours: RehearseOurs) -> Rehearsal:
    """The module's stack, in a separate data centre."""
    stack = rehearse_ours(request.module.STACK)
    stack.settings(**getattr(request.module, "SETTINGS", {}))
    return stack.rehearsal
