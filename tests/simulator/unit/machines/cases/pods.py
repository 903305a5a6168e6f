"""The kinds of cases on the pods of a machine: what they do to it, and what the kubelet gives them."""

import asyncio
import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from rehearsal.machines.hardware.container_toolkit import hands_out_by_variable
from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.hardware.kernel_modules import lifts_memlock
from rehearsal.machines.kubelet.containers import rewritten
from rehearsal.machines.kubelet.environment import (
    InvalidReferenceError,
    MissingReferenceError,
    References,
    container_environment,
    expanded,
)
from rehearsal.machines.kubelet.log_server import selected
from rehearsal.machines.kubelet.volumes import write_volume
from rehearsal.machines.network.address_pools import allocations, free_address_of
from rehearsal.machines.network.networks import AttachmentError, parent_device, selections
from rehearsal.machines.pods import status as states
from rehearsal.machines.pods.behaviours import behaviour_of, clashes, is_executed, needs_ofed
from tests.cases import Case, refusing
from tests.simulator.unit.machines.cases.hardware import machine, modules

_NOW: Final = "2026-11-21T12:00:00Z"
_CONFIG_MAPS: Final = {"settings": {"NCCL_DEBUG": "INFO", "file.json": "{}"}}
_SECRETS: Final = {"hidden": {"key": "s3cret"}}
_REFERENCES: Final = References(
    config_map=_CONFIG_MAPS.get,
    secret=_SECRETS.get,
    pod={
        "metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a/b": "c"}, "annotations": {"x": "y"}},
        "spec": {"nodeName": "node-0", "serviceAccountName": "sa", "containers": [{"name": "main"}]},
    },
    allocatable={"cpu": "96", "memory": "1Gi"},
    pod_ip="10.244.0.2",
    host_ip="10.224.0.4",
    kernel="6.8.0-1031-azure",
)
_PATHS: Final = {"/dev": "/run/dev", "/dev/shm": "/run/shm", "/sys": "/run/sys", "/opt/x": "/run/x"}


def behaviour(case: Case) -> Any:
    """The facts about a pod on its machine, without those that are false or empty."""
    metadata = {"labels": case.get("labels"), "ownerReferences": case.get("owners")}
    pod = {"metadata": metadata, "spec": {"containers": case.get("containers", [])}}
    row, there = behaviour_of(pod), Machine(name="n", hardware=machine(case), host_gpu_driver=case.get("driver", False))
    crashes = row.crashes if row else ()
    outcome = {
        "provides": row and row.provides,
        "loads": row and sorted(row.modules(pod)),
        "crashes": [
            crash.when + ", breaks the node" * crash.breaks_node
            for crash in crashes
            if clashes(crash.when, pod, there, case.get("node_info", {}))
        ],
        "is executed": is_executed(pod),
        "needs OFED": needs_ofed(pod, there.hardware),
        "lifts memlock": lifts_memlock(pod),
        "hands out GPUs by variable": hands_out_by_variable(pod),
    }
    return {name: value for name, value in outcome.items() if value}


def environment(case: Case) -> Any:
    """The environment of a container, the value of a variable by its source, or a text with variables."""
    if "text" in case:
        return expanded(case["text"], case["variables"])
    if "from" in case:
        case = {"env": [{"name": "V", "valueFrom": case["from"]}]}
    return container_environment({"name": "main", **case}, _REFERENCES)


def volume(case: Case) -> Any:
    """The files of a volume with their texts."""

    async def token(claim: Mapping[str, Any]) -> str:
        return f"token for {claim.get('audience', 'the API server')}"

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = asyncio.run(write_volume({"name": "v", **case}, folder / "volumes", folder / "host", _REFERENCES, token))
        return {str(path.relative_to(made)): path.read_text() for path in sorted(made.rglob("*")) if path.is_file()}


def networks(case: Case) -> Any:
    """The networks that a pod's annotation names, with their interfaces."""
    annotations = {"k8s.v1.cni.cncf.io/networks": case["annotation"]}
    pod = {"metadata": {"name": "p", "namespace": "work", "annotations": annotations}}
    return [f"{selection.namespace}/{selection.name}@{selection.interface}" for selection in selections(pod)]


def pool(spec: dict[str, Any], allocated: Any = ()) -> dict[str, Any]:
    """A pool of addresses with blocks of nodes."""
    usual = {"subnet": "192.168.0.0/24", "perNodeBlockSize": 8}
    return {"metadata": {"name": "pool"}, "spec": usual | spec, "status": {"allocations": list(allocated)}}


def blocks(case: Case) -> Any:
    """The blocks of nodes, after earlier ones; or, with `taken`, the free address of the node `of`."""
    earlier = blocks(case["earlier"]) if "earlier" in case else ()
    nodes = [{"metadata": {"name": name, "labels": labels}} for name, labels in case["nodes"].items()]
    made = allocations(pool(case.get("pool", {}), earlier), nodes)
    if "taken" not in case:
        return made
    return free_address_of(pool(case.get("pool", {}) | case.get("later", {}), made), case["of"], set(case["taken"]))


def view(name: str, state: Any) -> states.ContainerView:
    """A container by the word for its state and more fields: its exit code, if it has ended."""
    fields = dict(state)
    of_state: dict[str, Callable[[Any], dict[str, Any]]] = {
        "waits": states.waiting,
        "runs": states.running,
        "ended": lambda code: states.terminated(code, started=_NOW, now=_NOW),
    }
    (word,) = fields.keys() & of_state.keys()
    return states.ContainerView(name=name, image="x", state=of_state[word](fields.pop(word)), **fields)


def status(case: Case, before: Mapping[str, Any] | None = None) -> Any:
    """A pod's phase, reason and conditions, each with its time unless it is the usual one; `then` is a later view."""
    containers, init = ([view(*item) for item in case.get(key, {}).items()] for key in ("containers", "init"))
    verdict = states.Verdict(**case["verdict"]) if "verdict" in case else None
    seen = states.PodView(init=init, containers=containers, pod_ip="10.244.0.2", host_ip="10.224.0.4", verdict=verdict)
    pod = {"spec": {"restartPolicy": case.get("policy", "Never")}, "status": before or case.get("status", {})}
    made = states.pod_status(pod, seen, now=case.get("now", _NOW))
    if "then" in case:
        return status(case["then"], made)
    conditions = {
        condition["type"]: ": ".join(condition[key] for key in ("status", "reason", "message") if key in condition)
        + f" since {condition['lastTransitionTime']}" * (condition["lastTransitionTime"] != _NOW)
        for condition in made["conditions"]
    }
    shown = {key: made[key] for key in ("phase", "reason", "message", "startTime") if key in made}
    return shown | {"conditions": conditions}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "behaviours": behaviour,
    "environment": refusing(environment, InvalidReferenceError, MissingReferenceError),
    "volumes": refusing(volume, InvalidReferenceError, MissingReferenceError),
    "paths": lambda case: rewritten(case["text"], {path: Path(place) for path, place in _PATHS.items()}),
    "log": lambda case: b"".join(selected(io.BytesIO(case["log"].encode()), case["query"])).decode(),
    "blocks": blocks,
    "networks": refusing(networks, AttachmentError),
    "parent": refusing(
        lambda case: parent_device({"master": case["master"]}, machine(case), modules(case)).name, AttachmentError
    ),
    "status": status,
}
"""By the first word of a file's name, what gives the outcome of a case."""
