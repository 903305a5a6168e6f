"""The simulated machines' PCI addresses are those in Azure's NCCL topology files."""

from collections.abc import Iterator
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.machines.hardware.model import hardware_of
from tests.conformance.facts import facts
from tests.conformance.test_nccl_topology import FILES

CLASSES = {"gpus": "0302", "hcas": "0207"}


def devices(part: Any, numa_node: int) -> Iterator[tuple[str, str, int]]:
    """Address, class and NUMA node of all devices next to a processor, behind its bridges too."""
    for kind, device_class in CLASSES.items():
        yield from ((address, device_class, numa_node) for address in part.get(kind, ()))
    for bridge in part.get("bridges", {}).values():
        yield from devices(bridge, numa_node)


@pytest.mark.parametrize(("size", "file"), FILES.items())
def test_devices_sit_where_the_topology_file_says(size: str, file: str) -> None:
    assert size in SIZES
    expected = {device for number, node in facts(file)["numa-nodes"].items() for device in devices(node, number)}
    hardware = hardware_of(size=size, machine="node-0", fabric="one")
    found = [*(hca.pci for hca in hardware.hcas), *(gpu.pci for gpu in hardware.gpus)]
    assert {(pci.address, pci.device_class, pci.numa_node) for pci in found} == expected
    assert len(found) == len(expected) > 8
