"""One data centre for all tests of a pool of 16 HBv4 machines, which follow one another in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearsal.replace.replacing import Fleet, fleet


@pytest.fixture(scope="package")
def hbv4(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A pool of 16 machines with one HCA each, so that 16 of them are few processes."""
    with fleet(tmp_path_factory.mktemp("hbv4"), "hbv4", machines=16) as found:
        yield found


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """Where a test's commands keep evidence."""
    return tmp_path
