"""A simulated Azure, to be held against what Azure was recorded to answer."""

from pathlib import Path

import pytest

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    return Azure(tmp_path, SUBSCRIPTION)


@pytest.fixture
def group(azure: Azure) -> Properties:
    return azure.create("resources:ResourceGroup", "rg")
