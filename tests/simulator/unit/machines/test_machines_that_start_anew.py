"""The faults that leave a machine that Azure restarts or redeploys, and the name of its host afterwards."""

from pathlib import Path
from typing import Any

import pytest

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.metadata import metadata_files

NODE, OTHER = "aks-hb-12345678-vmss000001", "aks-hb-12345678-vmss000002"


@pytest.mark.parametrize(
    ("cured_by", "action", "is_cured"),
    [
        ("restart", "restart", True),
        ("restart", "redeploy", True),
        ("redeploy", "restart", False),
        ("redeploy", "redeploy", True),
        (None, "redeploy", False),
    ],
)
def test_a_boot_cures_what_it_is_said_to_cure_on_its_machine_alone(
    tmp_path: Path, cured_by: str | None, action: str, is_cured: bool
) -> None:
    fault: dict[str, Any] = {"fault": "slow", "factor": 0.5} | ({"curedBy": cured_by} if cured_by else {})
    machine_faults.write(tmp_path, [fault])
    assert bool(machine_faults.cure(tmp_path, NODE, action)) == is_cured
    now = machine_faults.read(tmp_path)
    assert (machine_faults.concerning(now, "slow", NODE) is None) == is_cured
    assert machine_faults.concerning(now, "slow", OTHER) is not None
    assert not machine_faults.cure(tmp_path, NODE, action), "what is cured is not cured again"


def test_a_machine_on_another_host_names_that_one_and_keeps_its_vm_id() -> None:
    before, after = (metadata_files(size="Standard_HB120rs_v3", machine=NODE, faults=[], moved=n) for n in (0, 1))
    assert before["metadata/instance/compute"] == after["metadata/instance/compute"]
    assert before["var/lib/hyperv/.kvp_pool_3"] != after["var/lib/hyperv/.kvp_pool_3"]
