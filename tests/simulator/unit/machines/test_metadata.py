"""The answer of Azure's instance metadata service on a simulated machine, and the proof that no program calls the real
one.
"""

import json
from pathlib import Path
from typing import Any

from aks_infiniband.validation.payload.look.placement import read_placement
from aks_infiniband.validation.validation_job import METADATA

from rehearsal.machines.hardware.metadata import metadata_files, with_metadata_of
from rehearsal.machines.hardware.sysfs import write_files

SIZE = "Standard_ND96isr_H100_v5"
MACHINES = [f"aks-ndh100-33735988-vmss{number:06d}" for number in range(3)]


def group_of(machine: str, *faults: dict[str, Any]) -> Any:
    files = metadata_files(size=SIZE, machine=machine, faults=list(faults))
    return json.loads(files["metadata/instance/compute"])["placementGroupId"]


def test_the_machines_of_a_pool_are_in_one_placement_group_but_for_one_with_the_fault() -> None:
    fault = {"fault": "placement-group", "node": MACHINES[1]}
    assert len({group_of(machine) for machine in MACHINES}) == 1
    assert group_of(MACHINES[0], fault) == group_of(MACHINES[2], fault) != group_of(MACHINES[1], fault)
    assert group_of("aks-other-33735988-vmss000000") != group_of(MACHINES[0])


def test_a_machines_host_has_a_name_even_where_no_metadata_service_answers() -> None:
    files = metadata_files(size=SIZE, machine=MACHINES[0], faults=[{"fault": "no-metadata", "node": MACHINES[0]}])
    (pool,) = files.values()
    assert len(pool) % 2560 == 0
    assert pool.startswith("PhysicalHostName\0")


def test_the_address_that_a_pod_is_given_leads_to_the_machines_own_files(tmp_path: Path) -> None:
    address = with_metadata_of(tmp_path, METADATA)
    assert address.startswith("file:")
    assert read_placement(address)["said"] is not None, "a machine whose metadata service does not answer"
    write_files(tmp_path, metadata_files(size=SIZE, machine=MACHINES[0], faults=[]))
    found = read_placement(address)
    assert (found["group"], found["scale_set"]) == (group_of(MACHINES[0]), "aks-ndh100-33735988-vmss")
    assert with_metadata_of(tmp_path, "--poll-seconds") == "--poll-seconds"


def test_a_machine_on_another_host_names_that_one_and_keeps_its_vm_id() -> None:
    before, after = (
        metadata_files(size="Standard_HB120rs_v3", machine=MACHINES[0], faults=[], moved=n) for n in (0, 1)
    )
    assert before["metadata/instance/compute"] == after["metadata/instance/compute"]
    assert before["var/lib/hyperv/.kvp_pool_3"] != after["var/lib/hyperv/.kvp_pool_3"]
