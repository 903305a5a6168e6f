"""The kinds of cases on a machine and its node. A case has what differs from a machine with H100.

Its keys: `size`, `faults`, and `modules`, or `without`: the kernel modules that are not loaded.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware import device_plugins
from rehearsal.machines.hardware.container_toolkit import Toolkit, visible_gpus
from rehearsal.machines.hardware.device_plugins import PluginConfigError
from rehearsal.machines.hardware.hardware_faults import faulty
from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.hardware.model import Hardware, hardware_of
from rehearsal.machines.hardware.sysfs import (
    MEMLOCK_BYTES,
    dev_files,
    effective_capabilities,
    pod_interfaces,
    proc_files,
    sys_files,
)
from rehearsal.machines.nodes import patches
from rehearsal.machines.nodes.feature_discovery import built_in_labels, features_of, gpu_labels
from rehearsal.machines.nodes.feature_rules import expression_matches, labels_of_rules
from tests.cases import Case, patched, refusing

_H100: Final = "Standard_ND96isr_H100_v5"
_NODE_INFO: Final = {"kernelVersion": "6.8.0-1031-azure", "osImage": "Ubuntu 24.04.3 LTS"}
_NODE: Final[dict[str, Any]] = {
    "metadata": {"name": "node-0", "labels": {}, "annotations": {}},
    "status": {"allocatable": {}, "capacity": {}},
}


@cache
def plain_machine(size: str) -> Hardware:
    """A machine of a size without faults."""
    return hardware_of(size=size, machine="node-0", fabric="one")


def machine(case: Case) -> Hardware:
    """The machine of a case."""
    sound = plain_machine(case.get("size", _H100))
    if "faults" not in case:
        return sound
    with tempfile.TemporaryDirectory() as folder:
        machine_faults.write(Path(folder), case["faults"])
        return faulty(sound, "node-0", Path(folder))


def modules(case: Case) -> frozenset[str]:
    """The modules that the machine of a case has loaded."""
    loaded = case.get("modules", {*INBOX_MODULES, "ib_umad", "ib_ipoib", "rdma_ucm", "nvidia_peermem"})
    return frozenset(loaded) - set(case.get("without", ()))


def devices(case: Case) -> Any:
    """Name, PCI address and link layer of the RDMA devices, in the order of the kernel's numbers: 0, 1, 2 …"""
    there = machine(case).rdma_devices
    assert [device.index for device in there] == list(range(len(there)))
    return [f"{device.name} {device.pci.address} {device.link_layer}" for device in there]


def offers(case: Case) -> Any:
    """The offers of a device plugin by its configuration: an entry of its list, or the whole text."""
    usual: dict[str, tuple[str, Mapping[str, Any]]] = {
        "shared": ("configList", {"resourceName": "shared_ib", "rdmaHcaMax": 63}),
        "sriov": ("resourceList", {"resourcePrefix": "rdma", "resourceName": "ib"}),
    }
    plugin = "sriov" if "sriov" in case else "shared"
    key, entry = usual[plugin]
    config = case.get("text") or json.dumps({key: [patched(entry, case[plugin])]})
    offer = device_plugins.sriov if plugin == "sriov" else device_plugins.shared_rdma
    return [
        {"name": offered.name, "count": offered.count, "shared": offered.shared}
        | {"devices": [device.name for device in offered.rdma_devices]}
        for offered in offer(config, machine(case), modules(case))
    ]


def gpus(case: Case) -> Any:
    """The GPUs that NVIDIA's plugin offers, and the labels of GPU feature discovery."""
    offered = {offer.name: offer.count for offer in device_plugins.gpus(machine(case))}
    return {"offers": offered, "labels": gpu_labels(machine(case))}


def seen_gpus(case: Case) -> Any:
    """Indexes of the GPUs that a container sees, by the settings of the container toolkit."""
    there = machine(case).gpus
    adds = {"capabilities": {"add": case.get("adds", [])}}
    container = {"name": "main", "image": case.get("image", "busybox"), "securityContext": adds}
    pod = {"spec": {"containers": [container], "runtimeClassName": case.get("runtimeClass")}}
    toolkit = Toolkit(**case["toolkit"]) if case["toolkit"] else None
    held = [there[index] for index in case.get("held", ())]
    seen = visible_gpus(pod, container, named=case.get("named"), held=held, there=there, toolkit=toolkit)
    return [gpu.index for gpu in seen]


def labels(case: Case) -> Any:
    """The labels that NFD gives a node: of rules by their names, or of the worker's configuration."""
    features = features_of(machine(case), _NODE_INFO, "node-0")
    if "config" in case:
        return built_in_labels(features, case["config"])
    rules = [
        {"metadata": {"name": name}, "spec": {"rules": [{"name": name, "labels": {"found": "yes"}} | rule]}}
        for name, rule in case["rules"].items()
    ]
    return labels_of_rules(rules, features)


def patch(case: Case) -> Any:
    """The patch of a node: its labels, its resources, its API server's way to it, or its broken runtime."""
    node = patched(_NODE, case.get("node", {}))
    by_kind: dict[str, Callable[[Any], Any]] = {
        "labels": lambda wanted: patches.label_patch(node, wanted),
        "offers": lambda offered: patches.resource_patch(node, offered),
        "port": lambda port: patches.endpoint_patch(node, port),
        "broken": lambda why: patches.broken_patch(node, why, "now"),
    }
    (kind,) = case.keys() & by_kind.keys()
    return by_kind[kind](case[kind])


def host_driver(case: Case) -> Any:
    """True if a machine has NVIDIA's driver by its node's annotation; None if the node is not a machine."""
    annotations = {"rehearsal.aks-infiniband/machine": json.dumps(case["machine"])}
    known = Inventory(Path("without faults")).machine(patched(_NODE, {"metadata": {"annotations": annotations}}))
    return known and known.host_gpu_driver


def proc(case: Case) -> Any:
    """The files below /proc that a case shows."""
    memlock = case.get("memlock", MEMLOCK_BYTES)
    made = proc_files(kernel="6.8.0-1031-azure", capabilities=0xA80425FB, modules=modules(case), memlock=memlock)
    return {path: made[path] for path in case["show"]}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "devices": devices,
    "offers": refusing(offers, PluginConfigError),
    "gpus": gpus,
    "toolkit": seen_gpus,
    "expressions": refusing(lambda case: expression_matches(case["is"], case["value"]), ValueError),
    "labels": labels,
    "patches": patch,
    "driver": host_driver,
    "sys": lambda case: {path: sys_files(machine(case), modules(case)).get(path) for path in case["show"]},
    "dev": lambda case: dev_files(
        rdma=machine(case).hcas[: case["hcas"]], gpus=case.get("gpus", []), modules=modules(case)
    ),
    "proc": proc,
    "interfaces": lambda case: pod_interfaces(case["names"]),
    "capabilities": lambda case: f"{effective_capabilities(case['container'], case.get('pod', {})):016x}",
}
"""By the first word of a file's name, what gives the outcome of a case."""
