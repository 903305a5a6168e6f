"""NCCL topology files: those that are made, and those that people give."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.workload.topology import nccl_topology, read


@pytest.mark.parametrize("size", [name for name, size in SIZES.items() if nccl_topology(size)])
def test_every_gpu_and_hca_is_in_it_once(size: str) -> None:
    root = ET.fromstring(nccl_topology(SIZES[size]) or "")
    found = sorted(pci.attrib["busid"] for pci in root.iter("pci") if not pci.attrib["busid"].startswith("ffff"))
    assert found == sorted(slot.address for slot in (*SIZES[size].slots.gpus, *SIZES[size].slots.hcas))


@pytest.mark.parametrize("size", [name for name, size in SIZES.items() if nccl_topology(size)])
def test_every_processor_belongs_to_one_numa_node(size: str) -> None:
    root = ET.fromstring(nccl_topology(SIZES[size]) or "")
    masks = [int(cpu.attrib["affinity"].replace(",", ""), 16) for cpu in root.iter("cpu")]
    assert sum(masks) == (1 << SIZES[size].vcpus) - 1
    assert sum(mask.bit_count() for mask in masks) == SIZES[size].vcpus


def test_a_file_that_nccl_takes_is_taken_as_it_is(tmp_path: Path) -> None:
    text = '<!-- ours -->\n<system version="1"><cpu numaid="0"/></system>\n'
    (tmp_path / "own.xml").write_text(text)
    assert read(tmp_path / "own.xml") == text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("<system", "is not XML"),
        ('<graphs version="1"/>', "its root must be"),
        ('<system version="2"/>', "its root must be"),
        (b"\xff\xfe\x00", "is not XML"),
    ],
)
def test_a_file_that_nccl_would_refuse_is_refused_with_the_reason(
    tmp_path: Path, content: str | bytes, reason: str
) -> None:
    file = tmp_path / "own.xml"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ValueError, match=reason):
        read(file)


def test_a_file_that_is_not_there_is_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read: No such file"):
        read(tmp_path / "none.xml")
