"""The content of an NCCL topology file: the devices next to each processor, and their bridge."""

import re
from typing import Any
from xml.etree import ElementTree as ET

_CLASSES = {"0x030200": "gpus", "0x020700": "hcas"}
_BRIDGE = "0x060400"
_NOT_GIVEN = "0x0000"
"""A PCI ID of zero is one that is not given."""


def distil(text: str) -> dict[str, Any]:
    """By NUMA node what NCCL takes from the file. The order of siblings says nothing, and neither does that of digits.

    Raises ValueError for an unknown element or attribute.
    """
    system = ET.fromstring(text)
    return {
        **_attributes(system, "system", "version"),
        "numa-nodes": {
            int(cpu.attrib["numaid"]): _node(cpu) for cpu in sorted(system, key=lambda cpu: cpu.attrib["numaid"])
        },
    }


def _node(cpu: ET.Element) -> dict[str, Any]:
    said = _attributes(cpu, "cpu", "numaid", "affinity", "arch", "vendor", "familyid", "modelid")
    del said["numaid"]
    return {**said, "affinity": hex(int(said["affinity"].replace(",", ""), 16)), **_devices(cpu)}


def _devices(parent: ET.Element) -> dict[str, Any]:
    """Below a processor or a bridge: the GPUs and HCAs with their links, and the bridges with what is below them."""
    found: dict[str, Any] = {}
    for pci in sorted(parent, key=lambda pci: pci.attrib["busid"]):
        said = _attributes(pci, "pci", "busid", "class", "link_speed", "link_width")
        link = f"{_speed(said['link_speed'])} GT/s x{said['link_width']}"
        if said["class"] == _BRIDGE:
            found.setdefault("bridges", {})[said["busid"]] = {"link": link, **_devices(pci)}
        elif said["class"] in _CLASSES and not len(pci):
            found.setdefault(_CLASSES[said["class"]], {})[said["busid"]] = link
        else:
            raise ValueError(f"no word for {ET.tostring(pci, encoding='unicode')}")
    return found


def _speed(link_speed: str) -> str:
    """In GT/s; the kernel has worded it in two ways: `16 GT/s`, `16.0 GT/s PCIe`."""
    return f"{float(re.sub(r' GT/s( PCIe)?$', '', link_speed)):g}"


def _attributes(element: ET.Element, tag: str, *names: str) -> dict[str, str]:
    said = {name: value for name, value in element.attrib.items() if value != _NOT_GIVEN}
    if element.tag != tag or set(said) != set(names):
        raise ValueError(f"no word for <{element.tag}> with {sorted(said)}")
    return said
