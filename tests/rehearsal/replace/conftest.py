"""A data centre with a pool of 16 HBv4 machines for each module, whose tests follow one another in it."""

from pathlib import Path

import pytest

from tests.rehearsal.conftest import RehearseOurs
from tests.rehearsal.replace.replacing import Fleet, fleet


@pytest.fixture(scope="module")
def hbv4(rehearse_ours: RehearseOurs) -> Fleet:
    """A pool of 16 machines with one HCA each, so that 16 of them are few processes."""
    return fleet(rehearse_ours("hbv4"), machines=16)


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """The folder in which a test's commands keep evidence."""
    return tmp_path
