"""The devices of a simulated machine: PCI devices, HCAs, the Ethernet mlx5 of accelerated networking, GPUs.

PCI addresses and NUMA nodes are the catalogue's, which names the source of each. Device names are the kernel's, as
AKS's node images leave them: mlx5_0 to mlx5_7 for eight HCAs, mlx5_8 for the Ethernet device; the faults `ethernet` and
`hpc-image-names` change them (tests/field_recordings/devices.yaml). PCI device IDs are from the PCI ID Repository.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import Accelerator, MachineSize, PciSlot

from rehearsal.machines.hardware.gpu_models import DEVICE_IDS, gpu_uuid
from rehearsal.machines.hardware.identities import digest, guid, partition
from rehearsal.machines.hardware.nvlink import NvlinkFabric, nvlink_of

LinkLayer = Literal["InfiniBand", "Ethernet"]

MELLANOX: Final = "15b3"
_GPU_VENDORS: Final = {"nvidia": "10de", "amd": "1002"}
# PCI base class and sub-class: network controllers are 02xx (00 Ethernet, 07 InfiniBand), 0302 is NVIDIA's
# "3D controller", 1200 AMD's "processing accelerator".
_CLASS_INFINIBAND: Final = "0207"
_CLASS_ETHERNET: Final = "0200"
_CLASS_GPU: Final = {"nvidia": "0302", "amd": "1200"}
_UNKNOWN_GPU: Final = "ffff"
"""Device ID of a GPU that only a stack file describes: what acts on GPUs goes by vendor and class."""
# Accelerated networking is a virtual function of the InfiniBand adapters' vendor with another link layer ("How
# Accelerated Networking works in Linux and FreeBSD VMs"). 1018 is ConnectX-5's; 101e is one for all adapters since
# ConnectX-6 Dx, Ethernet and InfiniBand alike (PCI ID Repository), so an ordinary machine has the device ID of an HCA
# (which of Azure's ordinary sizes has which is assumed).
_ETHERNET_VF: Final = "1018"
_ETHERNET_VF_OF_ORDINARY_MACHINES: Final = "101e"
_ETHERNET_RATE_GBPS: Final = 100
_FIRMWARE: Final = {"ConnectX-5": 16, "ConnectX-6": 20, "ConnectX-7": 28, "ConnectX-8": 40}
"""First number of an adapter's firmware version (NVIDIA, names of firmware images, read 2026-11-23); 40 is assumed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PciDevice:
    """One PCI function as /sys/bus/pci shows it; hexadecimal digits without 0x."""

    address: str
    vendor: str
    device: str
    device_class: str
    numa_node: int


@dataclass(frozen=True, kw_only=True, slots=True)
class RdmaDevice:
    """One mlx5 device with one port. Its link is up, as on Azure, even without another machine on the fabric."""

    name: str
    interface: str
    """The network interface of the port, as systemd names it from a slot number that differs between machines."""
    alternative_interface: str
    """Its alternative name, from the PCI address: ip and netlink find it, /sys/class/net does not list it."""
    pci: PciDevice
    link_layer: LinkLayer
    rate_gbps: int
    rate_suffix: str
    """Lanes and generation as the kernel prints them behind the rate."""
    firmware: str
    """Its first number is the adapter's."""
    index: int
    """N of mlx5_N, uverbsN, umadN and issmN: the kernel's own numbers."""
    guid: str
    """Node GUID, sixteen hexadecimal digits in groups of four."""
    pkeys: tuple[int, ...]
    """Partition keys of the port; empty for Ethernet."""
    service_level: int = 0
    """The service level that traffic needs on the fabric."""
    link_up: bool = True

    @property
    def port_guid(self) -> str:
        """The GUID of the port: the node's, with fd in place of fe (tests/field_recordings/devices.yaml)."""
        return self.guid.replace(":fe", ":fd", 1)

    @property
    def adapter_guid(self) -> str:
        """The GUID of the adapter behind the virtual function (the system image); zeros if it is hidden."""
        if self.link_layer == "Ethernet":
            return "0000:0000:0000:0000"
        return f"0c42:a103:00{digest('adapter', self.guid) % 0x100:02x}:{digest(self.guid) % 0x10000:04x}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """One GPU."""

    index: int
    uuid: str
    pci: PciDevice


@dataclass(frozen=True, kw_only=True, slots=True)
class Hardware:
    """Everything plugged into one machine."""

    size: str
    rdma_devices: tuple[RdmaDevice, ...]
    gpus: tuple[Gpu, ...]
    accelerator: Accelerator | None
    """The kind of the GPUs; None without GPUs."""
    open_modules: bool
    """True if NVIDIA's kernel modules for these GPUs are the open ones, which have DMA-BUF."""
    nvlink: NvlinkFabric | None = None
    """Fabric of the rack; None if NVLink ends at the machine."""
    numa_cpus: tuple[str, ...]
    """The CPUs of each NUMA node as the kernel writes a list; empty if the size is not known."""

    @property
    def gpu_vendor(self) -> str | None:
        """Vendor nvidia or amd; None without GPUs."""
        return None if self.accelerator is None else self.accelerator.vendor

    @property
    def hcas(self) -> tuple[RdmaDevice, ...]:
        """The InfiniBand devices."""
        return tuple(device for device in self.rdma_devices if device.link_layer == "InfiniBand")

    @property
    def pci_devices(self) -> tuple[PciDevice, ...]:
        """Every PCI function."""
        return (*(device.pci for device in self.rdma_devices), *(gpu.pci for gpu in self.gpus))


def hardware_of(
    *, size: str, machine: str, fabric: str, rack: int = 0, sizes: Mapping[str, MachineSize] = SIZES
) -> Hardware:
    """The hardware of a machine.

    size: Azure's name of the size; one that is not among the sizes has the Ethernet mlx5 and nothing else. machine: the
    node's name; identities (GUIDs, UUIDs, the Ethernet device's PCI domain) derive from it. fabric: machines with the
    same fabric share their partition keys, others never do. rack: its number; machines of one fabric and rack share an
    NVLink domain, if the size has any. sizes: the InfiniBand sizes that there are.
    """
    known = sizes.get(size)
    hcas = () if known is None else _hcas(known, machine, fabric)
    vf = _ETHERNET_VF_OF_ORDINARY_MACHINES if known is None else _ETHERNET_VF
    return Hardware(
        size=size,
        rdma_devices=(*hcas, _ethernet(machine, vf, index=len(hcas))),
        gpus=() if known is None or known.accelerator is None else _gpus(known.accelerator, known.slots.gpus, machine),
        accelerator=None if known is None else known.accelerator,
        open_modules=known is not None and known.accelerator is not None and known.accelerator.dma_buf,
        nvlink=nvlink_of(fabric, rack) if known is not None and known.nvlink_domain > 1 else None,
        numa_cpus=() if known is None else _numa_cpus(known),
    )


def _numa_cpus(size: MachineSize) -> tuple[str, ...]:
    """An equal, contiguous share for each node: published with the size's NCCL topology, assumed of all others."""
    slots = size.slots
    nodes = slots.processor.numa_nodes if slots.processor else 1 + max(slot.numa_node for slot in slots.hcas)
    width = size.vcpus // nodes
    return tuple(f"{node * width}-{(node + 1) * width - 1}" for node in range(nodes))


def _hcas(size: MachineSize, machine: str, fabric: str) -> tuple[RdmaDevice, ...]:
    infiniband = size.infiniband
    return tuple(
        RdmaDevice(
            name=f"mlx5_{index}",
            interface=f"ibP{slot.domain}s{10000 + digest('slot', machine, slot.address) % 90000}",
            alternative_interface=slot.interface,
            pci=PciDevice(
                address=slot.address,
                vendor=MELLANOX,
                device=infiniband.vf_device_id,
                device_class=_CLASS_INFINIBAND,
                numa_node=slot.numa_node,
            ),
            link_layer="InfiniBand",
            rate_gbps=infiniband.rate_gbps,
            rate_suffix=f"4X {infiniband.generation}",
            firmware=f"{_FIRMWARE[infiniband.adapter]}.41.1000",
            index=index,
            guid=guid(machine, index),
            pkeys=(partition(fabric), 0x7FFF),
            service_level=infiniband.service_level,
        )
        for index, slot in enumerate(size.slots.hcas)
    )


def _ethernet(machine: str, device: str, *, index: int) -> RdmaDevice:
    # Hyper-V gives a network VF a separate PCI domain, different on every machine.
    domain = 0x1000 + digest("ethernet", machine) % 0xE000
    return RdmaDevice(
        name=f"mlx5_{index}",
        interface=f"enP{domain}s1",
        alternative_interface=f"enP{domain}p0s2",
        pci=PciDevice(
            address=f"{domain:04x}:00:02.0",
            vendor=MELLANOX,
            device=device,
            device_class=_CLASS_ETHERNET,
            numa_node=0,
        ),
        link_layer="Ethernet",
        rate_gbps=_ETHERNET_RATE_GBPS,
        rate_suffix="4X EDR",
        firmware="16.35.4030",
        index=index,
        guid=guid(machine, index),
        pkeys=(),
    )


def _gpus(accelerator: Accelerator, slots: tuple[PciSlot, ...], machine: str) -> tuple[Gpu, ...]:
    model = f"A100-{accelerator.memory_gb}" if accelerator.model == "A100" else accelerator.model
    return tuple(
        Gpu(
            index=index,
            uuid=gpu_uuid(machine, slot.address),
            pci=PciDevice(
                address=slot.address,
                vendor=_GPU_VENDORS[accelerator.vendor],
                device=DEVICE_IDS.get(model, _UNKNOWN_GPU),
                device_class=_CLASS_GPU[accelerator.vendor],
                numa_node=slot.numa_node,
            ),
        )
        for index, slot in enumerate(slots)
    )
