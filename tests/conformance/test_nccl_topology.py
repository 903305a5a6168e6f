"""The NCCL topology files that are made of the catalogue say what Azure's own say."""

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.workload.topology import nccl_topology, read

AZURES = Path(__file__).parents[3] / "shared" / "reference" / "nccl-topology"
FILES = {
    "Standard_ND40rs_v2": "ndv2-topo.xml",
    "Standard_ND96asr_v4": "ndv4-topo.xml",
    "Standard_ND96amsr_A100_v4": "ndv4-topo.xml",
    "Standard_ND96isr_H100_v5": "ndv5-topo.xml",
    "Standard_ND96isr_H200_v5": "ndv5-topo.xml",
}
needs_azures = pytest.mark.skipif(not AZURES.is_dir(), reason="needs ../shared/reference/nccl-topology")


def meaning(element: ET.Element) -> Any:
    """What NCCL takes from an element and all below it: the order of siblings says nothing."""
    attributes = dict(element.attrib)
    for absent, value in list(attributes.items()):
        if value == "0x0000":  # a PCI ID of zero is one that is not given
            del attributes[absent]
    if "link_speed" in attributes:  # the kernel has worded it in two ways: "16 GT/s", "16.0 GT/s PCIe"
        attributes["link_speed"] = str(float(re.sub(r" GT/s( PCIe)?$", "", attributes["link_speed"])))
    if "affinity" in attributes:
        attributes["affinity"] = str(int(attributes["affinity"].replace(",", ""), 16))
    return element.tag, sorted(attributes.items()), sorted(map(meaning, element))


@needs_azures
@pytest.mark.parametrize(("size", "file"), FILES.items())
@pytest.mark.field_report("C3")
def test_a_sizes_topology_is_azures(size: str, file: str) -> None:
    made = nccl_topology(SIZES[size])
    assert made is not None
    assert meaning(ET.fromstring(made)) == meaning(ET.parse(AZURES / file).getroot())


@needs_azures
def test_a_device_that_sits_elsewhere_is_another_topology() -> None:
    azures = (AZURES / "ndv5-topo.xml").read_text()
    moved = azures.replace('busid="0001:00:00.0"', 'busid="0002:00:00.0"', 1)
    assert meaning(ET.fromstring(moved)) != meaning(ET.fromstring(azures))


@needs_azures
@pytest.mark.parametrize("file", sorted(set(FILES.values())))
def test_azures_own_files_can_be_given(file: str) -> None:
    assert read(AZURES / file) == (AZURES / file).read_text()


def test_every_size_of_which_azure_publishes_a_topology_has_one_and_no_other() -> None:
    assert {name for name, size in SIZES.items() if nccl_topology(size)} == set(FILES)
