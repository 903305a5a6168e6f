"""Simulated Azures for the tests."""

from pathlib import Path
from typing import Any

import pytest

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import FAST, SUBSCRIPTION, Azure, MakeAzure, cluster_inputs


@pytest.fixture
def make_azure(tmp_path: Path) -> MakeAzure:
    """A simulated Azure with some of the subscription changed, on one folder."""

    def make(speed: float = FAST, **changes: Any) -> Azure:
        return Azure(tmp_path, SUBSCRIPTION.model_copy(update=changes), speed)

    return make


@pytest.fixture
def azure(make_azure: MakeAzure) -> Azure:
    return make_azure()


@pytest.fixture
def group(azure: Azure) -> Properties:
    return azure.create("resources:ResourceGroup", "rg")


@pytest.fixture
def cluster(azure: Azure, group: Properties) -> Properties:
    return azure.create("containerservice:ManagedCluster", "aks", **cluster_inputs(group))
