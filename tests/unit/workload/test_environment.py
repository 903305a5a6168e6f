"""The environment of NCCL and RCCL, by transport."""

import subprocess
from pathlib import Path

import pytest
from aks_infiniband.validation.payload.look.hcas import selects
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.workload.environment import LIST_HCAS, nccl_environment
from aks_infiniband.workload.pods import config_maps

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import sys_files, write_files
from tests.some_pools import GB300, pool


@pytest.mark.field_report("C9", "R6")
@pytest.mark.parametrize(
    "faults",
    [[], [{"fault": "ethernet", "place": 0}], [{"fault": "ethernet", "place": 3}], [{"fault": "hpc-image-names"}]],
)
def test_a_line_of_shell_lists_the_infiniband_devices_whatever_they_are_called(
    tmp_path: Path, faults: list[dict[str, object]]
) -> None:
    machine_faults.write(tmp_path, faults)
    whole = hardware_of(size="Standard_ND96isr_H100_v5", machine="node-0", fabric="one")
    hardware = faulty(whole, "node-0", tmp_path)
    write_files(tmp_path / "sys", sys_files(hardware, ()))
    line = LIST_HCAS.replace("/sys/", f"{tmp_path}/sys/")
    said = subprocess.run(["sh", "-c", f'{line}; echo "$NCCL_IB_HCA"'], capture_output=True, text=True, check=True)
    infiniband = [device.name for device in hardware.hcas]
    assert sorted(said.stdout.strip().removeprefix("=").split(",")) == sorted(infiniband)
    for device in hardware.rdma_devices:
        assert selects(said.stdout.strip(), device.name) is (device.name in infiniband)


@pytest.mark.field_report("R2")
def test_over_the_fabric_of_grace_blackwell_traffic_asks_for_its_service_level() -> None:
    (environment, *_) = config_maps(pool(GB300, "gb")).values()
    assert environment["NCCL_IB_SL"] == "1"
    assert environment == expectations(pool(GB300, "gb"))["environment"], "which the validation's pods have to show"
    assert "NCCL_IB_SL" not in nccl_environment()
    assert "NCCL_IB_SL" not in nccl_environment("tcp", service_level=1)


def test_nobody_can_change_the_environment_of_the_next_pool() -> None:
    nccl_environment()["NCCL_IB_DISABLE"] = "1"
    assert nccl_environment()["NCCL_IB_DISABLE"] == "0"
