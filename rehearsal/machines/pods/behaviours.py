"""The table of what a pod does to its machine (behaviours.yaml), typed."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import modules_named
from rehearsal.machines.hardware.model import MELLANOX, Hardware

Condition = Literal["ofed", "ofedForPeermem", "gpuDriver", "containerToolkit", "gpuDevices", "amdDriver"]
Effect = Literal[
    "featureMaster",
    "nodeFeatures",
    "nodePreparation",
    "peermem",
    "toolkitHardening",
    "ofed",
    "sharedRdmaDevices",
    "sriovDevices",
    "draDevices",
    "multus",
    "ipoibCni",
    "addressController",
    "addressAgent",
    "gpuDriver",
    "containerToolkit",
    "gpuDevices",
    "gpuFeatures",
    "gpuHostEngine",
    "computeDomainDevices",
    "imexDaemon",
    "amdDriver",
    "amdGpuDevices",
    "amdGpuFeatures",
]
Part = Literal["rdma", "nvidiaGpu", "amdGpu"]
Clash = Literal["hostGpuDriver", "hostOfed", "containerd2ConfigDump", "noNri", "imageOfAnotherSystem", "noNvlink"]
ANY: Final = "*"
"""Ends a label's value that stands for all that begin so."""
_TABLE: Final = Path(__file__).with_name("behaviours.yaml")
_MODEL: Final = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class InitContainerBehaviour(BaseModel):
    """The condition that one init container waits for, its duration from then on (a key of latency.yaml), and its
    words.
    """

    model_config = _MODEL

    waits_for: Condition | None = Field(default=None, alias="waitsFor")
    latency: str = "containerStart"
    says: str | None = None
    """Its log while it waits."""


class Crash(BaseModel):
    """A state of the machine with which a pod cannot run, and how its containers then end."""

    model_config = _MODEL

    when: Clash
    message: str
    breaks_node: bool = Field(default=False, alias="breaksNode")


class Behaviour(BaseModel):
    """One row of the table; the table's head says what each field means."""

    model_config = _MODEL

    labels: dict[str, str] = {}
    container: str | None = None
    requires: Part | None = None
    init_containers: dict[str, InitContainerBehaviour] = Field(default={}, alias="initContainers")
    waits_for: Condition | None = Field(default=None, alias="waitsFor")
    latency: str
    provides: Effect | None = None
    effect_latency: str | None = Field(default=None, alias="effectLatency")
    loads: tuple[str, ...] = ()
    loads_with: dict[str, tuple[str, ...]] = Field(default={}, alias="loadsWith")
    loads_named: bool = Field(default=False, alias="loadsNamed")
    stays: bool = False
    never_ready_with: str | None = Field(default=None, alias="neverReadyWith")
    crashes: tuple[Crash, ...] = ()

    def matches(self, pod: Mapping[str, Any]) -> bool:
        """True if a pod behaves so."""
        labels = pod["metadata"].get("labels") or {}
        if self.container and self.container not in {container["name"] for container in pod["spec"]["containers"]}:
            return False
        return all(key in labels and _matches(expected, labels[key]) for key, expected in self.labels.items())

    def modules(self, pod: Mapping[str, Any]) -> frozenset[str]:
        """The kernel modules that are loaded while the pod is ready."""
        containers = {container["name"] for container in pod["spec"]["containers"]}
        loaded = set(self.loads)
        for name, modules in self.loads_with.items():
            loaded.update(modules if name in containers else ())
        return frozenset(loaded | (modules_named(pod) if self.loads_named else frozenset()))


_GROUPS_OF_JOBS: Final = re.compile(r"batch/v\w+/Job$|kubeflow\.org/")
_WATCH: Final = {"app.kubernetes.io/name": "light-check", "app.kubernetes.io/component": "watch"}
ORDINARY: Final = Behaviour(latency="containerStart")
"""The behaviour of a pod without a row: it runs, and does nothing to its machine."""


def _matches(expected: str, value: str) -> bool:
    return value.startswith(expected.removesuffix(ANY)) if expected.endswith(ANY) else value == expected


@cache
def behaviours() -> Mapping[str, Behaviour]:
    """The table, by name of the row, in its order."""
    return {name: Behaviour.model_validate(row) for name, row in yaml.safe_load(_TABLE.read_text()).items()}


def behaviour_of(pod: Mapping[str, Any]) -> Behaviour | None:
    """The row that a pod matches, or None."""
    return next((row for row in behaviours().values() if row.matches(pod)), None)


def is_executed(pod: Mapping[str, Any]) -> bool:
    """True if the containers of a pod are really executed: those of jobs, and of servers that hold devices.

    Jobs are Kubernetes' and Kubeflow's. Servers, such as a LeaderWorkerSet's, have a controller, and devices or claims.
    The pods of operators, which the table has, are not executed. The watch of the light check is: it decides when pods
    come to a node.
    """
    metadata = pod["metadata"]
    owners = metadata.get("ownerReferences") or []
    if owners and _WATCH.items() <= (metadata.get("labels") or {}).items():
        return True
    if any(_GROUPS_OF_JOBS.match(f"{owner['apiVersion']}/{owner['kind']}") for owner in owners):
        return True
    return bool(owners) and _holds_devices(pod["spec"]) and behaviour_of(pod) is None


def _holds_devices(spec: Mapping[str, Any]) -> bool:
    if spec.get("resourceClaims"):
        return True
    limits = ((container.get("resources") or {}).get("limits") or {} for container in spec["containers"])
    return any("/" in name for each in limits for name in each)


def is_plugged_in(part: Part | None, hardware: Hardware) -> bool:
    """True if a machine has what a behaviour requires."""
    if part == "rdma":
        return any(device.pci.vendor == MELLANOX for device in hardware.rdma_devices)
    if part is not None:
        return hardware.gpu_vendor == part.removesuffix("Gpu")
    return True


def needs_ofed(pod: Mapping[str, Any], hardware: Hardware) -> bool:
    """True if a GPU driver pod waits for OFED: its peermem module is built against the drivers that OFED installs."""
    peermem = [container for container in pod["spec"]["containers"] if container["name"] == "nvidia-peermem-ctr"]
    return bool(peermem) and bool(hardware.hcas) and ("USE_HOST_MOFED", "true") not in _variables(pod)


def clashes(clash: Clash, pod: Mapping[str, Any], machine: Machine, node_info: Mapping[str, str]) -> bool:
    """True if a pod meets a forbidden part on its machine. node_info: the node's status.nodeInfo."""
    if clash == "hostGpuDriver":
        return machine.host_gpu_driver
    if clash == "hostOfed":
        return machine.image_has_drivers
    if clash == "noNvlink":
        return machine.hardware.nvlink is not None and not machine.hardware.nvlink.registered
    runtime = node_info.get("containerRuntimeVersion", "")
    if clash == "noNri":
        return runtime.startswith("containerd://1")
    if clash == "imageOfAnotherSystem":
        return bool(_built_for(pod) - {_system(node_info.get("osImage", ""))})
    reads_file = any(
        name == "RUNTIME_CONFIG_SOURCE" and value.split("=")[0] == "file" for name, value in _variables(pod)
    )
    return runtime.startswith("containerd://2") and not reads_file


def _built_for(pod: Mapping[str, Any]) -> set[str]:
    """The systems that the tags of a pod's images end with, such as ubuntu24.04; most images name none."""
    tags = (container["image"].rpartition(":")[2] for container in pod["spec"]["containers"])
    return {match[1] for tag in tags if (match := re.search(r"-((?:ubuntu|azurelinux)\d+\.\d+)$", tag))}


def _system(os_image: str) -> str:
    """`ubuntu24.04` of `Ubuntu 24.04.3 LTS`, `azurelinux3.0` of Azure Linux; empty for another system."""
    match = re.search(r"(Ubuntu|Azure Linux) (\d+\.\d+)", os_image)
    return f"{match[1].replace(' ', '').lower()}{match[2]}" if match else ""


def _variables(pod: Mapping[str, Any]) -> set[tuple[str, str]]:
    return {
        (variable["name"], variable.get("value") or "")
        for container in pod["spec"]["containers"]
        for variable in container.get("env") or []
    }
