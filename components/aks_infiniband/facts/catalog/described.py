"""A machine size that the catalogue does not know, from a stack file's description of it."""

from collections.abc import Mapping
from typing import Any

from aks_infiniband.facts.catalog.machine import (
    Accelerator,
    GpuSoftware,
    Infiniband,
    MachineSize,
    Slots,
    counted_up,
)
from aks_infiniband.facts.catalog.slots import FIRST_GPU, FIRST_HCA


def described(name: str, description: Mapping[str, Any]) -> MachineSize:
    """The size that the stack file describes under aks-infiniband:sizes.

    description: well-formed, with the stack file's keys, defaults left out or not (settings.DescribedSize).
    """
    infiniband, accelerator = description["infiniband"], description.get("accelerator")
    architecture = description.get("architecture", "amd64")
    return MachineSize(
        name=name,
        series=description["series"],
        vcpus=description["vcpus"],
        quota_vcpus=description["vcpus"],
        memory_gib=description["memoryGib"],
        infiniband=Infiniband.of(
            *(infiniband["hcaCount"], infiniband["generation"], infiniband["adapter"]),
            rate_gbps=infiniband.get("rateGbps") or 0,
            vf_device_id=infiniband.get("vfDeviceId") or "",
        ),
        accelerator=accelerator
        and Accelerator(
            vendor=accelerator["vendor"],
            model=accelerator["model"],
            count=accelerator["count"],
            memory_gb=accelerator["memoryGb"],
            software=_software(accelerator["vendor"], architecture),
        ),
        architecture=architecture,
        placement_feature=description.get("placementFeature", True),
        slots=Slots(
            hcas=counted_up(FIRST_HCA, infiniband["hcaCount"]),
            gpus=counted_up(FIRST_GPU, accelerator["count"] if accelerator else 0),
            source="assumed",
        ),
    )


def _software(vendor: str, architecture: str) -> GpuSoftware:
    """What such GPUs need: Azure's arm64 machines with NVIDIA GPUs are all Grace Blackwell."""
    if vendor == "amd":
        return "rocm"
    return "dra" if architecture == "arm64" else "gpu-operator"
