"""The NCCL topology files that are made of the catalogue say what Azure's own say."""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.workload.topology import nccl_topology, read

from tests.conformance.distil.topologies import distil
from tests.conformance.facts import facts

FILES = {
    "Standard_ND40rs_v2": "nccl-topology/ndv2-topo.xml",
    "Standard_ND96asr_v4": "nccl-topology/ndv4-topo.xml",
    "Standard_ND96amsr_A100_v4": "nccl-topology/ndv4-topo.xml",
    "Standard_ND96isr_H100_v5": "nccl-topology/ndv5-topo.xml",
    "Standard_ND96isr_H200_v5": "nccl-topology/ndv5-topo.xml",
    "Standard_ND96isrf_H200_v5": "nccl-topology/ndv5-topo.xml",
}
NDV5 = "Standard_ND96isr_H100_v5"
AZURES_WORDS = """<system version="1">
  <cpu numaid="0" affinity="00000000,0000ffff,ffffffff" arch="x86_64" vendor="v" familyid="6" modelid="143">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="32.0 GT/s PCIe" link_width="16" vendor="0x0000">
      <pci busid="0001:00:00.0" class="0x030200" link_speed="32 GT/s" link_width="16"/>
    </pci>
  </cpu>
</system>
"""
"""As Azure's files word it: digits and PCI IDs that say nothing, and a bridge with what is below it."""


def azures(size: str) -> Any:
    """The content of Azure's file for a size."""
    return {key: said for key, said in facts(FILES[size]).items() if key != "source"}


def made(size: str) -> str:
    """The file that the catalogue makes for a size."""
    text = nccl_topology(SIZES[size])
    assert text is not None
    return text


@pytest.mark.parametrize("size", FILES)
@pytest.mark.field_report("C3")
def test_a_sizes_topology_is_azures(size: str) -> None:
    assert distil(made(size)) == azures(size)


@pytest.mark.parametrize(
    ("said", "otherwise"),
    [
        ('busid="0001:00:00.0"', 'busid="000f:00:00.0"'),
        ('class="0x030200"', 'class="0x020700"'),
        ('link_width="16"', 'link_width="8"'),
        ('link_speed="32.0 GT/s PCIe"', 'link_speed="16.0 GT/s PCIe"'),
        ('numaid="1"', 'numaid="2"'),
        ("0000ffff,ffffffff", "00000000,ffffffff"),
        ('modelid="143"', 'modelid="85"'),
    ],
)
def test_a_file_that_says_otherwise_is_another_topology(said: str, otherwise: str) -> None:
    changed = made(NDV5).replace(said, otherwise, 1)
    assert changed != made(NDV5)
    assert distil(changed) != azures(NDV5)


def test_a_device_below_another_bridge_is_another_topology() -> None:
    first, second = 'busid="0001:00:00.0"', 'busid="0002:00:00.0"'
    swapped = made(NDV5).replace(first, "X").replace(second, first).replace("X", second)
    assert distil(swapped) != azures(NDV5)


@pytest.mark.parametrize("unknown", ['vendor="0x10de"', 'gdr="1"'])
def test_what_the_facts_have_no_word_for_is_not_left_out(unknown: str) -> None:
    with pytest.raises(ValueError, match="no word for <pci>"):
        distil(AZURES_WORDS.replace('vendor="0x0000"', unknown))


def test_azures_own_words_can_be_given_and_mean_what_ours_mean(tmp_path: Path) -> None:
    (tmp_path / "topo.xml").write_text(AZURES_WORDS)
    text = read(tmp_path / "topo.xml")
    assert text == AZURES_WORDS
    assert distil(text)["numa-nodes"][0]["affinity"] == hex(2**48 - 1)
    assert distil(text)["numa-nodes"][0]["bridges"] == {
        "ffff:ff:01.0": {"link": "32 GT/s x16", "gpus": {"0001:00:00.0": "32 GT/s x16"}}
    }


def test_every_size_of_which_azure_publishes_a_topology_has_one_and_no_other() -> None:
    assert {name for name, size in SIZES.items() if nccl_topology(size)} == set(FILES)
