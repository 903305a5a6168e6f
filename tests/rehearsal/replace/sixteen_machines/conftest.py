"""A data centre with a pool of 16 HBv4 machines, which all modules of this folder share: each leaves it whole."""

from collections.abc import Iterator

import pytest

from rehearsal.testing.stack import rehearsing
from tests.rehearsal.replace.replacing import Fleet, fleet
from tests.rehearsal.stacks.conftest import Stack, copy_of_project


@pytest.fixture(scope="package")
def hbv4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A pool of 16 machines with one HCA each, so that 16 of them are few processes."""
    folder = tmp_path_factory.mktemp("sixteen")
    with rehearsing(copy_of_project(folder / "project"), "hbv4", folder=folder / "run") as rehearsed:
        yield fleet(Stack(rehearsed.rehearsal), machines=16)
