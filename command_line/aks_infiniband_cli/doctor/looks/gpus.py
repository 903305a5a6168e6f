"""The state of the GPU Operator: the owners of driver and device plugin, and the conditions of GPUDirect RDMA."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.operators import GPU_LABEL
from aks_infiniband.diagnosis.ownership import images_of
from aks_infiniband.diagnosis.view import Finding, Object, condition, container_statuses, labelled, name_of

from aks_infiniband_cli.doctor.looks.operands import infiniband_nodes, ofed_sets
from aks_infiniband_cli.doctor.snapshot import Snapshot, info_of, labels_of

_DRIVER_LABEL: Final = "nvidia.com/gpu.deploy.driver"
_DMA_BUF_KERNEL: Final = (5, 12)
"""The least kernel that hands GPUs' memory to HCAs itself (NVIDIA/cloud-native-docs 52dcb7b, 2026-08-21,
gpu-operator-rdma.rst: prerequisites of DMA-BUF)."""


def owners(snapshot: Snapshot) -> Iterator[Finding]:
    """Two owners of the GPUs' driver or of their device plugin, or none."""
    view = snapshot.view
    for policy in _policies(snapshot):
        about = f"ClusterPolicy {name_of(policy)}"
        enabled = _driver(policy).get("enabled", True)
        for node in view.nodes:
            if enabled and labels_of(node).get(_DRIVER_LABEL) == "pre-installed":
                what = f"{about} has driver.enabled, and node {name_of(node)} carries {_DRIVER_LABEL}=pre-installed"
                yield Finding(symptom="gpu-driver-two-owners", about=f"node {name_of(node)}", what=what)
        if not enabled:
            yield from _without_driver(snapshot, about)
    for node in view.nodes:
        there = [pod for pod in view.pods if pod["spec"].get("nodeName") == name_of(node) and _offers_gpus(pod)]
        if len(there) > 1:
            what = (
                f"{len(there)} device plugins offer the GPUs of node {name_of(node)}: {', '.join(map(name_of, there))}"
            )
            yield Finding(symptom="two-gpu-device-plugins", about=f"node {name_of(node)}", what=what)


def _offers_gpus(pod: Object) -> bool:
    """True if the pod is NVIDIA's device plugin; its image has GPU feature discovery and the MPS daemon too."""
    names = [container["name"] for container in pod["spec"].get("containers") or []]
    return "k8s-device-plugin" in "".join(images_of(pod)) and any("device-plugin" in name for name in names)


def _policies(snapshot: Snapshot) -> list[Object]:
    return [policy for policy in snapshot.view.policies if policy.get("kind") == "ClusterPolicy"]


def _driver(policy: Object) -> Mapping[str, Any]:
    driver: Mapping[str, Any] = (policy.get("spec") or {}).get("driver") or {}
    return driver


def _without_driver(snapshot: Snapshot, about: str) -> Iterator[Finding]:
    """Pods of the GPU Operator that wait for a driver which it does not install."""
    for pod in snapshot.view.pods:
        for status in container_statuses(pod):
            state = status.get("state") or {}
            done = (state.get("terminated") or {}).get("reason") == "Completed"
            ready = condition(pod, "Ready").get("status") == "True"
            if status.get("name") == "driver-validation" and not done and not ready:
                node = pod["spec"].get("nodeName")
                what = f"{about} has driver.enabled=false, and pod {name_of(pod)} waits for a driver on node {node}"
                yield Finding(symptom="gpu-driver-no-owner", about=f"node {node}", what=what)


def direct_rdma(snapshot: Snapshot) -> Iterator[Finding]:
    """GPUDirect RDMA: nvidia-peermem against the wrong OFED, waiting for one, or off without DMA-BUF."""
    contained = bool(ofed_sets(snapshot.view))
    for policy in _policies(snapshot):
        about, driver = f"ClusterPolicy {name_of(policy)}", _driver(policy)
        rdma = driver.get("rdma") or {}
        if not driver.get("enabled", True) or not infiniband_nodes(snapshot.view):
            continue
        if rdma.get("enabled") and bool(rdma.get("useHostMofed")) is contained:
            where = "in a container" if contained else "on the host, or the node image's own"
            what = f"{about} has driver.rdma.useHostMofed={'true' if contained else 'false'}; OFED is {where}"
            yield Finding(symptom="peermem-wrong-ofed", about=about, what=what)
        if not rdma.get("enabled"):
            reasons = _no_dma_buf(snapshot, driver)
            if reasons:
                what = f"{about} has driver.rdma.enabled=false, and {reasons}"
                yield Finding(symptom="gpudirect-off", about=about, what=what)
    if not contained:
        yield from _peermem_waits(snapshot)


def _no_dma_buf(snapshot: Snapshot, driver: Mapping[str, Any]) -> str:
    if driver.get("kernelModuleType") == "proprietary":
        return "driver.kernelModuleType is proprietary, and this driver does not support DMA-BUF"
    for node in labelled(snapshot.view.nodes, {GPU_LABEL: "true"}):
        kernel = str(info_of(node).get("kernelVersion"))
        version = re.match(r"(\d+)\.(\d+)", kernel)
        if version and (int(version[1]), int(version[2])) < _DMA_BUF_KERNEL:
            return f"kernel {kernel} of node {name_of(node)} does not support DMA-BUF for HCAs"
    return ""


def _peermem_waits(snapshot: Snapshot) -> Iterator[Finding]:
    """Driver pods that wait for an OFED container that does not exist."""
    for pod in snapshot.view.pods:
        log = snapshot.view.logs.get(name_of(pod), "")
        lines = [line for line in log.splitlines() if "waiting for mellanox ofed" in line]
        if lines and condition(pod, "Ready").get("status") != "True":
            yield Finding(symptom="peermem-waits-for-ofed", about=f"pod {name_of(pod)}", what=lines[-1].strip())
