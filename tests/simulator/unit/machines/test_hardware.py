import re
from dataclasses import asdict

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.machines.hardware.model import Hardware, hardware_of

H100 = "Standard_ND96isr_H100_v5"


def machine(size: str = H100, name: str = "node-0", fabric: str = "one") -> Hardware:
    return hardware_of(size=size, machine=name, fabric=fabric)


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_every_size_has_what_the_catalogue_says(size: MachineSize) -> None:
    hardware = machine(size.name)
    assert len(hardware.hcas) == size.infiniband.hca_count
    assert {device.rate_gbps for device in hardware.hcas} == {size.infiniband.rate_gbps}
    assert {device.pci.device for device in hardware.hcas} == {size.infiniband.vf_device_id}
    assert len(hardware.gpus) == (size.accelerator.count if size.accelerator else 0)
    assert len({device.address for device in hardware.pci_devices}) == len(hardware.pci_devices)


@pytest.mark.parametrize("size", ["Standard_D8s_v5", *SIZES])
def test_every_machine_has_the_ethernet_device_of_the_same_vendor(size: str) -> None:
    hardware = machine(size)
    ethernet = [device for device in hardware.rdma_devices if device.link_layer == "Ethernet"]
    assert [(device.name, device.pci.vendor) for device in ethernet] == [(f"mlx5_{len(hardware.hcas)}", "15b3")]


def test_a_size_outside_the_catalogue_has_nothing_else() -> None:
    hardware = machine("Standard_D8s_v5")
    assert hardware.hcas == ()
    assert hardware.gpus == ()


def test_machines_of_one_fabric_share_partition_keys_and_others_do_not() -> None:
    keys = {
        name: machine(name=name, fabric=fabric).hcas[0].pkeys for name, fabric in [("a", "x"), ("b", "x"), ("c", "y")]
    }
    assert keys["a"] == keys["b"] != keys["c"]
    assert all(key[0] & 0x8000 for key in keys.values()), "full member"


def test_identities_differ_between_machines_and_stay_the_same_for_one() -> None:
    assert asdict(machine(name="a")) == asdict(machine(name="a"))
    here, there = machine(name="a"), machine(name="b")
    assert {gpu.uuid for gpu in here.gpus}.isdisjoint(gpu.uuid for gpu in there.gpus)
    guids = [device.guid for device in (*here.rdma_devices, *there.rdma_devices)]
    assert len(set(guids)) == len(guids)


@pytest.mark.parametrize("size", ["Standard_HB120rs_v3", "Standard_ND96asr_v4"])
def test_an_interface_is_named_by_a_slot_number_of_its_machine_and_has_its_address_as_a_second_name(size: str) -> None:
    here, there = (machine(size, name).hcas[0] for name in ("a", "b"))
    assert here.alternative_interface == there.alternative_interface == "ibP257p0s0"
    assert re.fullmatch(r"ibP257s\d{5}", here.interface)
    assert here.interface != there.interface


def test_each_numa_node_has_its_share_of_the_cpus() -> None:
    assert machine().numa_cpus == ("0-47", "48-95")
    assert machine("Standard_HB176rs_v4").numa_cpus == ("0-175",)
    assert len(machine("Standard_ND96asr_v4").numa_cpus) == 4
