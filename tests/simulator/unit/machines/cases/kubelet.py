"""The kinds of cases on a kubelet: devices, files and addresses of pods. One kind is on faults that a boot cures."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rehearsal.faults import machine_faults
from rehearsal.machines.hardware import device_plugins
from rehearsal.machines.hardware.device_plugins import OfferedResource
from rehearsal.machines.hardware.inventory import Inventory
from rehearsal.machines.hardware.kernel_modules import INBOX_MODULES
from rehearsal.machines.kubelet.device_manager import DeviceManager, refusal
from rehearsal.machines.network.networks import Attachment, AttachmentError, Selection, configuration, network_status
from rehearsal.machines.nodes.upkeep import mounted_file
from rehearsal.machines.pods.addresses import free_address
from rehearsal.machines.pods.effects import Effects, InForce
from rehearsal.machines.pods.running import missing_config_maps
from tests.cases import Case, refusing
from tests.simulator.unit.machines.cases.hardware import machine

_NODES: Final = ("node-0", "node-1")
_IB: Final = Selection(namespace="work", name="ib", interface="net1")


def _pod(name: str = "0", *, asks: Any = None, init: Any = None, **spec: Any) -> dict[str, Any]:
    kinds = {"containers": ("main", asks or {}), "initContainers": ("first", init)}
    containers = {
        kind: [{"name": called, "resources": {"limits": limits}}]
        for kind, (called, limits) in kinds.items()
        if limits is not None
    }
    metadata = {"uid": name, "namespace": "ns", "name": name}
    return {"metadata": metadata, "spec": {"nodeName": "node-0", **containers, **spec}, "status": {"phase": "Running"}}


def held(case: Case) -> Any:
    """The devices of each container of `pods`, which come one after the other, or the kubelet's refusal of a pod.
    A pod has `asks` and perhaps those of an `init` container; the pods in `after` have succeeded before.
    """
    hardware, manager = machine(case), DeviceManager()
    offers = [
        OfferedResource(name="rdma/shared_ib", count=63, rdma_devices=hardware.hcas, shared=True),
        OfferedResource(name="rdma/ib", count=len(hardware.hcas), rdma_devices=hardware.hcas),
        *device_plugins.gpus(hardware),
    ]
    node = {"status": {"allocatable": {offer.name: str(offer.count) for offer in offers}}}
    there: dict[str, dict[str, Any]] = {}
    outcome: dict[str, Any] = {}
    for name, asking in case["pods"].items():
        for ended in asking.get("after", ()):
            there[ended]["status"]["phase"] = "Succeeded"
            manager.release(there[ended])
        pod = _pod(name, asks=asking["asks"], init=asking.get("init"))
        outcome[name] = refusal(pod, node, [*there.values(), pod])
        if outcome[name] is None:
            there[name] = pod
            outcome[name] = {
                container: [each.name for each in has.rdma_devices] + [f"GPU {gpu.index}" for gpu in has.gpus]
                for container, has in manager.allocate_pod(pod, hardware, offers).items()
            }
    return outcome


def driver_modules(case: Case) -> Any:
    """The modules of a machine on which a container of the GPU Operator has loaded those of NVIDIA's driver, in
    addition to the kernel's. `machine` has the node's annotation, `faults` those of the machine.
    """
    facts = {"size": "Standard_ND96isr_H100_v5", "fabric": "one", **case.get("machine", {})}
    annotations = {"rehearsal.aks-infiniband/machine": json.dumps(facts)}
    effects = Effects()
    effects.add("uid", InForce(node="node-0", effect="gpuDriver", modules=frozenset({"nvidia", "nvidia_peermem"})))
    with TemporaryDirectory() as folder:
        machine_faults.write(Path(folder), case.get("faults", []))
        known = Inventory(Path(folder)).machine({"metadata": {"name": "node-0", "annotations": annotations}})
        return known and sorted(effects.modules(known) - set(INBOX_MODULES))


def mounted(case: Case) -> Any:
    """The config.json that the volumes of a pod hold, and the ConfigMaps that they need and that are not there."""
    pod = _pod(volumes=case["volumes"])
    maps: Any = {tuple(name.split("/")): {"data": data} for name, data in case["maps"].items()}
    return {"config.json": mounted_file(pod, maps, "config.json"), "missing": missing_config_maps(pod, maps)}


def address(case: Case) -> Any:
    """The address of a pod on a node with a `range` for pods, of which some are taken."""
    others = [{"status": {"podIP": taken}} for taken in case.get("taken", ())]
    return free_address(_pod(**case.get("pod", {})), {"spec": {"podCIDR": case["range"]}}, others, "10.224.0.4")


def cured(case: Case) -> Any:
    """The nodes that have a fault of all nodes after each of the `actions` of Azure on node-0."""
    with TemporaryDirectory() as name:
        folder, left = Path(name), []
        machine_faults.write(folder, [{"fault": "slow", "factor": 0.5, **case["fault"]}])
        for action in case["actions"]:
            number = len(machine_faults.cure(folder, "node-0", action))
            now = machine_faults.read(folder)
            nodes = [node for node in _NODES if machine_faults.concerning(now, "slow", node) is not None]
            left.append(f"{number} cured, still on {', '.join(nodes)}")
    return left


def attached(case: Case) -> Any:
    """Multus' words on a pod with a second network."""
    hca, pool = machine(case).hcas[0], ("network-operator", "pool")
    made = Attachment(selection=_IB, device=hca, pool=pool, address=case["address"])
    return json.loads(network_status(case["pod_ip"], [made]))


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "held": held,
    "modules": driver_modules,
    "mounted": mounted,
    "addresses": address,
    "cured": cured,
    "attached": attached,
    "definitions": refusing(lambda case: configuration(_IB, case["definitions"]), AttachmentError),
}
"""By the first word of a file's name, what gives the outcome of a case."""
