"""The NCCL topology file of a machine size, from the catalogue's PCI facts.

A virtual machine hides which GPU sits next to which HCA; NCCL reads it from a file (NCCL, NCCL_TOPO_FILE). Azure
publishes such files for its ND sizes (ndv2, ndv4 and ndv5 in Azure/azhpc-images); what is made here says the same.
"""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from aks_infiniband.facts.catalog.machine import MachineSize, PciSlot, Processor
from aks_infiniband.handwritten import content

_VERSION: Final = "1"
"""Version of the format; NCCL refuses any other (nccl, src/graph/xml.h)."""
_CLASS_GPU: Final = "0x030200"
_CLASS_HCA: Final = "0x020700"
_CLASS_BRIDGE: Final = "0x060400"


def nccl_topology(size: MachineSize) -> str | None:
    """The NCCL topology file of a size; None for one without GPUs, and if Azure publishes no topology."""
    processor = size.slots.processor
    if processor is None or size.accelerator is None:
        return None
    system = ET.Element("system", version=_VERSION)
    for numa_node in range(processor.numa_nodes):
        cpu = ET.SubElement(system, "cpu", _cpu(processor, numa_node, size.vcpus))
        for switch, devices in groupby(_devices(size, numa_node), key=lambda device: device[0].switch):
            # A machine sees nothing of the switch: it has an address that no device has, as Azure's files write it.
            at = cpu if switch is None else _pci(cpu, f"ffff:ff:{switch:02x}.0", _CLASS_BRIDGE, processor)
            for slot, device_class in devices:
                _pci(at, slot.address, device_class, processor)
    ET.indent(system)
    return ET.tostring(system, encoding="unicode") + "\n"


def read(path: str | Path) -> str:
    """The content of a given topology file.

    Raises ValueError, with a reason, for one that cannot be read or that NCCL would refuse.
    """
    try:
        text = content(path).decode()
        root = ET.fromstring(text)  # noqa: S314  a file of the user's own
    except (ET.ParseError, UnicodeDecodeError) as error:
        raise ValueError(f"is not XML: {error}") from error
    if (root.tag, root.get("version")) != ("system", _VERSION):
        raise ValueError(f'is not an NCCL topology: its root must be <system version="{_VERSION}">')
    return text


def _devices(size: MachineSize, numa_node: int) -> Iterator[tuple[PciSlot, str]]:
    """The devices of one NUMA node with their class, those of a switch together, GPUs before HCAs."""
    devices = [*((slot, _CLASS_GPU) for slot in size.slots.gpus), *((slot, _CLASS_HCA) for slot in size.slots.hcas)]
    here = [(slot, device_class) for slot, device_class in devices if slot.numa_node == numa_node]
    yield from sorted(here, key=lambda device: device[0].switch or 0)


def _cpu(processor: Processor, numa_node: int, vcpus: int) -> dict[str, str]:
    return {
        "numaid": str(numa_node),
        "affinity": _cpu_mask(numa_node, vcpus // processor.numa_nodes, vcpus),
        "arch": "x86_64",  # of every size whose processor is in the catalogue
        "vendor": processor.vendor,
        "familyid": str(processor.family),
        "modelid": str(processor.model),
    }


def _pci(parent: ET.Element, address: str, device_class: str, processor: Processor) -> ET.Element:
    attributes = {"busid": address, "class": device_class, "link_speed": processor.link_speed, "link_width": "16"}
    return ET.SubElement(parent, "pci", attributes)


def _cpu_mask(numa_node: int, width: int, vcpus: int) -> str:
    """The vCPUs of a NUMA node as the kernel writes a mask: consecutive ones, in words of 32 bits."""
    mask = ((1 << width) - 1) << (numa_node * width)
    words = range((vcpus + 31) // 32 - 1, -1, -1)
    return ",".join(f"{mask >> (32 * word) & 0xFFFFFFFF:08x}" for word in words)
