"""A machine size that the catalogue does not know, from a stack file's description of it."""

from collections.abc import Mapping
from typing import Any

from aks_infiniband.facts.catalog.machine import (
    Accelerator,
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
    # Azure's arm64 machines with NVIDIA GPUs are all Grace Blackwell.
    grace_blackwell = architecture == "arm64" and accelerator is not None and accelerator["vendor"] == "nvidia"
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
            service_level=1 if grace_blackwell else 0,
        ),
        accelerator=accelerator
        and Accelerator(
            vendor=accelerator["vendor"],
            model=accelerator["model"],
            count=accelerator["count"],
            memory_gb=accelerator["memoryGb"],
            software="rocm" if accelerator["vendor"] == "amd" else "dra" if grace_blackwell else "gpu-operator",
        ),
        architecture=architecture,
        image_has_ofed=grace_blackwell,
        placement_feature=description.get("placementFeature", True),
        slots=Slots(
            hcas=counted_up(FIRST_HCA, infiniband["hcaCount"]),
            gpus=counted_up(FIRST_GPU, accelerator["count"] if accelerator else 0),
            source="assumed",
        ),
    )
