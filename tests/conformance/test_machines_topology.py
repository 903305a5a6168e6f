"""The simulated machines' PCI addresses are those of Azure's own NCCL topology files."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.machines.hardware.model import hardware_of

TOPOLOGIES = Path(__file__).parents[3] / "shared" / "reference" / "nccl-topology"


@pytest.mark.skipif(not TOPOLOGIES.is_dir(), reason="needs ../shared/reference/nccl-topology")
@pytest.mark.parametrize(
    ("size", "file"),
    [
        ("Standard_ND40rs_v2", "ndv2-topo.xml"),
        ("Standard_ND96asr_v4", "ndv4-topo.xml"),
        ("Standard_ND96amsr_A100_v4", "ndv4-topo.xml"),
        ("Standard_ND96isr_H100_v5", "ndv5-topo.xml"),
        ("Standard_ND96isr_H200_v5", "ndv5-topo.xml"),
    ],
)
def test_devices_sit_where_the_topology_file_says(size: str, file: str) -> None:
    assert size in SIZES
    expected = {
        (pci.attrib["busid"], pci.attrib["class"].removeprefix("0x")[:4], int(cpu.attrib["numaid"]))
        for cpu in ElementTree.parse(TOPOLOGIES / file).getroot().iter("cpu")
        for pci in cpu.iter("pci")
        if not pci.attrib["class"].startswith("0x0604")  # bridges
    }
    hardware = hardware_of(size=size, machine="node-0", fabric="one")
    devices = [*(one.pci for one in hardware.hcas), *(one.pci for one in hardware.gpus)]
    assert {(one.address, one.device_class, one.numa_node) for one in devices} == expected
