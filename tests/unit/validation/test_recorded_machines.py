"""No machine that Azure called healthy falls short of a limit, not even of one that warns."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from aks_infiniband import SIZES
from aks_infiniband.facts.baselines.choice import thresholds
from aks_infiniband.validation.payload.say.expectations import verdict_on

RECORDED = yaml.safe_load((Path(__file__).parents[2] / "field_recordings" / "measurements.yaml").read_text())
ACCEPTED: list[dict[str, Any]] = next(one for one in RECORDED if one["name"] == "accepted-by-azure")["figures"]


@pytest.mark.parametrize("machine", ACCEPTED, ids=lambda machine: f"{machine['size']} in {machine['region']}")
def test_a_machine_that_azure_has_accepted_passes(machine: dict[str, Any]) -> None:
    figures = {name: value for name, value in machine.items() if name.startswith("rdma-")}
    limits: Any = thresholds(SIZES[machine["size"]], list(figures))
    assert {name: verdict_on(value, limits[name]) for name, value in figures.items()} == dict.fromkeys(figures, "pass")
