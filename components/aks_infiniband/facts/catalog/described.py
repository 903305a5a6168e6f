"""A machine size from a description in a stack file's keys, that of the catalogue or of a stack file itself."""

from collections.abc import Mapping
from datetime import date
from types import MappingProxyType
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import Accelerator, Infiniband, MachineSize, PciSlot, Processor, Slots

RATES_GBPS: Final = {"EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}
"""Signalling rate of one port by generation, in Gb/s (InfiniBand Trade Association, roadmap; four lanes)."""
FASTEST: Final = {"ConnectX-5": "EDR", "ConnectX-6": "HDR", "ConnectX-7": "NDR", "ConnectX-8": "XDR"}
"""The generation of links up to which an adapter goes (NVIDIA, product briefs of the ConnectX adapters)."""
_VF_DEVICE_ID: Final = {"ConnectX-5": "1018", "ConnectX-6": "101c", "ConnectX-7": "101e", "ConnectX-8": "101e"}
"""PCI device ID of the virtual function that Azure passes into the machine, by adapter (PCI ID Repository)."""
_RACK: Final = 18
"""Machines of an NVLink domain of GB200 and GB300, four GPUs each (`MachineSize.nvlink_domain`)."""
_FIRST_HCA: Final = 0x0101
"""PCI domain of the first HCA: 257 on every size with a known domain."""
_FIRST_GPU: Final = 0x0001
"""PCI domain of the first GPU on every amd64 size with a known domain."""


def described(
    name: str,
    description: Mapping[str, Any],
    *,
    layout: Mapping[str, Any] = MappingProxyType({"source": "assumed"}),
    quota_vcpus: int | None = None,
    retires: date | None = None,
) -> MachineSize:
    """The size of this description, which is well-formed, defaults left out or not (settings.DescribedSize).

    layout: the places of its adapters and GPUs, as `sizes.yaml` has them. quota_vcpus: what one machine counts against
    the quota; by default all vCPUs. retires: the day on which Azure takes it away.
    """
    infiniband, accelerator = description["infiniband"], description.get("accelerator")
    architecture = description.get("architecture", "amd64")
    # Azure's arm64 machines with NVIDIA GPUs are all Grace Blackwell.
    grace_blackwell = architecture == "arm64" and accelerator is not None and accelerator["vendor"] == "nvidia"
    return MachineSize(
        name=name,
        series=description["series"],
        vcpus=description["vcpus"],
        quota_vcpus=quota_vcpus or description["vcpus"],
        memory_gib=description["memoryGib"],
        infiniband=Infiniband(
            hca_count=infiniband["hcaCount"],
            generation=infiniband["generation"],
            rate_gbps=infiniband.get("rateGbps") or RATES_GBPS[infiniband["generation"]],
            adapter=infiniband["adapter"],
            vf_device_id=infiniband.get("vfDeviceId") or _VF_DEVICE_ID[infiniband["adapter"]],
            service_level=1 if grace_blackwell else 0,
        ),
        accelerator=accelerator
        and Accelerator(
            vendor=accelerator["vendor"],
            model=accelerator["model"],
            count=accelerator["count"],
            memory_gb=accelerator["memoryGb"],
            software="rocm" if accelerator["vendor"] == "amd" else "gpu-operator",
        ),
        architecture=architecture,
        nvlink_domain=_RACK if grace_blackwell else 1,
        retires=retires,
        placement_feature=description.get("placementFeature", True),
        slots=Slots(
            hcas=_slots(layout.get("hcas"), _FIRST_HCA, infiniband["hcaCount"]),
            gpus=_slots(layout.get("gpus"), _FIRST_GPU, accelerator["count"] if accelerator else 0),
            source=layout["source"],
            processor=Processor(**layout["processor"]) if "processor" in layout else None,
        ),
    )


def _slots(known: list[dict[str, int]] | None, first_domain: int, count: int) -> tuple[PciSlot, ...]:
    """If nothing is known: consecutive domains, spread evenly over two NUMA nodes."""
    if known is not None:
        return tuple(PciSlot(**slot) for slot in known)
    return tuple(PciSlot(domain=first_domain + n, numa_node=n * 2 // count) for n in range(count))
