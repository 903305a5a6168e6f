"""The stand-in of dranet publishes the devices that the real one found over the same files."""

from typing import Any

import pytest

from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.nodes.resource_slices import attributes, device_name
from tests.unit.field_recordings.machines import modules_of
from tests.unit.field_recordings.recordings import recorded

RUNS = recorded("dranet")[0]["facts"]
OF_THE_CLOUD = "azure.dra.net/vmSize"
"""dranet was run without a cloud's metadata."""
NOT_SIMULATED = "dra.net/pciSubsystem"


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['size']}-{run['modules']}")
def test_the_stand_in_publishes_what_dranet_published(run: dict[str, Any]) -> None:
    hardware, modules = hardware_of(size=run["size"], machine="node-0", fabric="one"), modules_of(run["modules"])
    ours = {device_name(hca): attributes(hca, run["size"], modules) for hca in hardware.hcas}
    theirs = {device["name"]: device["attributes"] for device in run["devices"]}
    for published in ours.values():
        assert published.pop(OF_THE_CLOUD) == {"string": run["size"]}
    for found in theirs.values():
        found.pop(NOT_SIMULATED, None)
    assert ours == theirs
