"""The call to a node's DCGM, and its condition: plain data in, plain data out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from aks_infiniband.diagnosis.asks import asks_of
from aks_infiniband.diagnosis.ownership import is_over, operators_pods
from aks_infiniband.diagnosis.repairs import serves
from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.facts.dcgm import HOST_ENGINE_CONTAINER, HOST_ENGINE_LABEL, HOST_ENGINE_PORT, LEVEL
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES, labels

from aks_infiniband_cli.bad_machines.evidence.node_job import job_on
from aks_infiniband_cli.validate.deployed import Deployed, Object

_GPUS: Final = ("nvidia.com/gpu", "nvidia.com/mig-")
"""Prefixes of the device plugin's resources: whole GPUs, those that are shared, and parts."""
_PRESENT: Final = "nvidia.com/gpu.present"
_SECONDS: Final = 600
"""Limit for DCGM: the tests of new kinds of GPUs have hung (NVIDIA/DCGM issue 247, 2025-07-31)."""
_GRACE_SECONDS: Final = 30
"""On a signal to end, dcgmi has the host engine stop the diagnostics, and waits 25 s for that."""
_NO_POD: Final = (
    "no pod nvidia-dcgm runs on the node: the GPU Operator installs DCGM's host engine if its Helm values have "
    "`dcgm: {enabled: true}` (values/gpu-operator.yaml)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HostEngine:
    """The pod on the node in which DCGM's host engine runs."""

    pod: str
    address: str
    image: str
    """The image has dcgmi, of the same release."""


def has_gpus(node: Object, validation: Deployed) -> bool:
    """True if a machine has, or should have, GPUs that DCGM knows."""
    resources = (*((node.get("status") or {}).get("capacity") or {}), *validation.resources)
    return _PRESENT in (node["metadata"].get("labels") or {}) or any(name.startswith(_GPUS) for name in resources)


def engine_on(name: str, pods: Sequence[Object], operators: Collection[str] = OPERATOR_NAMESPACES) -> HostEngine | str:
    """The host engine of a node, if it can be called now; else the reason why not.

    pods: of all namespaces. The diagnostics take the GPUs for themselves, so no other pod may use them. operators:
    their namespaces; any pod may have the label, and its image would run with all GPUs.
    """
    here = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName") == name and not is_over(pod)]
    engines = labelled(operators_pods(here, operators), dict([HOST_ENGINE_LABEL]))
    if not engines:
        return _NO_POD
    ready = [pod for pod in engines if serves(pod) and _address(pod)]
    if not ready:
        return f"pod {_name(engines[0])} is not ready"
    for pod in here:
        if held := next(_held(pod), None):
            return f"pod {_name(pod)} has {held}, and the diagnostics take the GPUs for themselves"
    images = {container["name"]: container["image"] for container in ready[0]["spec"]["containers"]}
    image = images.get(HOST_ENGINE_CONTAINER) or next(iter(images.values()))
    return HostEngine(pod=_name(ready[0]), address=_address(ready[0]), image=image)


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def _address(pod: Object) -> str:
    return str((pod.get("status") or {}).get("podIP") or "")


def _held(pod: Object) -> Iterator[str]:
    asked = asks_of(pod)
    yield from (name for name in asked.resources if name.startswith(_GPUS))
    # The content of a claim stands in other objects; on a machine with GPUs it is hardly anything else.
    yield from (f"the resource claim {name}" for name in asked.claims)


def command_of(engine: HostEngine) -> list[str]:
    """The command line."""
    return ["dcgmi", "diag", "-r", str(LEVEL), "-j", "--host", f"{engine.address}:{HOST_ENGINE_PORT}"]


def _offered(node: Object) -> dict[str, str]:
    offered: Mapping[str, str] = (node.get("status") or {}).get("allocatable") or {}
    return {name: str(count) for name, count in offered.items() if name.startswith(_GPUS) and str(count) != "0"}


def job_of(node: Object, engine: HostEngine, validation: Deployed, token: str) -> dict[str, Any]:
    """The Job of the call: dcgmi runs in a separate pod, and the diagnostics in the host engine's pod.

    The pod takes all GPUs that the node offers. So no pod gets one meanwhile, and if a pod got one just before, the
    kubelet refuses this pod. The pod does nothing with them. A node that is cordoned gets nothing new, and may have a
    GPU with which no container starts, so there the pod takes none; `void` is for the image, which requests all. The
    pod is without privileges and without a token of the API server. When the Job is deleted or its time is up, dcgmi
    has the host engine stop; a program that is executed in the other pod would continue.
    """
    gpus = {} if (node.get("spec") or {}).get("unschedulable") else _offered(node)
    container = {
        "name": "dcgmi",
        "image": engine.image,
        "command": command_of(engine),
        "env": [] if gpus else [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "resources": {
            "requests": {"cpu": "10m", "memory": "128Mi", **gpus},
            "limits": {"memory": "1Gi", **gpus},
        },
    }
    return job_on(
        str(node["metadata"]["name"]),
        validation,
        name=f"dcgm-{token}",
        labels={**labels("evidence", "diagnose"), "app.kubernetes.io/managed-by": "aks-infiniband-evidence"},
        pod={"terminationGracePeriodSeconds": _GRACE_SECONDS, "containers": [container]},
        seconds=_SECONDS,
    )
