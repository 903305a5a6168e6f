"""Real Helm, and the chart in a folder."""

from pathlib import Path
from typing import Final

import pytest
from aks_infiniband.facts.catalog import SIZES

from chart.__main__ import NAME, chart, packed, version
from rehearsal.tools.on_demand import UnavailableError, built

_MODULE: Final = Path(__file__).with_name("helm")


@pytest.fixture(scope="session")
def helm() -> Path:
    """Helm, built once a machine: a minute and a half on two cores."""
    try:
        return built("helm", _MODULE, {"helm": "helm.sh/helm/v4/cmd/helm"}) / "helm"
    except UnavailableError as error:
        pytest.skip(f"Helm cannot be built here: {error}")


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The chart, as a release packs it."""
    file = tmp_path_factory.mktemp("chart") / f"{NAME}-{version()}.tgz"
    file.write_bytes(packed(chart(SIZES)))
    return file
