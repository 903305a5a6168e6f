"""The table of what a pod does to its machine (behaviours.yaml), typed."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from rehearsal.machines.hardware import MELLANOX, Hardware

Condition = Literal["ofed", "ofedForPeermem", "gpuDriver", "containerToolkit", "gpuDevices"]
Effect = Literal[
    "featureMaster",
    "nodeFeatures",
    "ofed",
    "sharedRdmaDevices",
    "sriovDevices",
    "gpuDriver",
    "containerToolkit",
    "gpuDevices",
    "gpuFeatures",
]
Part = Literal["rdma", "nvidiaGpu"]
ANY_VALUE = "*"
_TABLE = Path(__file__).with_name("behaviours.yaml")


class InitContainerBehaviour(BaseModel):
    """What one init container waits for, and how long it takes from then on (a key of latency.yaml)."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    waits_for: Condition | None = Field(default=None, alias="waitsFor")
    latency: str = "containerStart"


class Behaviour(BaseModel):
    """One row of the table; the table's head says what each field means."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    labels: dict[str, str]
    requires: Part | None = None
    init_containers: dict[str, InitContainerBehaviour] = Field(default={}, alias="initContainers")
    waits_for: Condition | None = Field(default=None, alias="waitsFor")
    latency: str
    provides: Effect | None = None
    effect_latency: str | None = Field(default=None, alias="effectLatency")

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with these labels behaves so."""
        return all(key in labels and expected in (ANY_VALUE, labels[key]) for key, expected in self.labels.items())


@cache
def behaviours() -> Mapping[str, Behaviour]:
    """The table, by name of the row, in its order."""
    return {name: Behaviour.model_validate(row) for name, row in yaml.safe_load(_TABLE.read_text()).items()}


def behaviour_of(pod: Mapping[str, Any]) -> Behaviour | None:
    """The row that a pod matches, or None."""
    labels = pod["metadata"].get("labels") or {}
    return next((row for row in behaviours().values() if row.matches(labels)), None)


def is_job_pod(pod: Mapping[str, Any]) -> bool:
    """Whether a Job controls the pod, so that its containers are really executed."""
    return any(
        owner["kind"] == "Job" and owner["apiVersion"].startswith("batch/")
        for owner in pod["metadata"].get("ownerReferences") or []
    )


def is_plugged_in(part: Part | None, hardware: Hardware) -> bool:
    """Whether a machine has what a behaviour requires."""
    if part == "rdma":
        return any(device.pci.vendor == MELLANOX for device in hardware.rdma_devices)
    if part == "nvidiaGpu":
        return hardware.gpu_vendor == "nvidia"
    return True


def needs_ofed(pod: Mapping[str, Any], hardware: Hardware) -> bool:
    """Whether a GPU driver pod waits for OFED: its peermem module is built against the drivers that OFED installs."""
    peermem = [one for one in pod["spec"]["containers"] if one["name"] == "nvidia-peermem-ctr"]
    uses_host = any(
        variable["name"] == "USE_HOST_MOFED" and variable.get("value") == "true"
        for container in pod["spec"]["containers"]
        for variable in container.get("env") or []
    )
    return bool(peermem) and bool(hardware.hcas) and not uses_host
