"""A folder for the evidence of the tests of `aks-infiniband replace`."""

from pathlib import Path

import pytest


@pytest.fixture
def evidence(tmp_path: Path) -> Path:
    """The folder in which a test's commands keep evidence."""
    return tmp_path
