"""The owner of an object: an operator, AKS, this program or another.

Every user who may write in a namespace writes labels, names, images and owner references, so they prove nothing alone.
A tenant does not choose the namespace. So the namespace is read first, then the controller.
"""

import re
from collections.abc import Collection, Iterable
from typing import Final, Literal

from aks_infiniband.diagnosis.view import Object, View, owners_of
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES, SYSTEM_NAMESPACE

Owner = Literal["operator", "AKS", "ours", "another"]

AKS_NAMESPACES: Final = ("kube-system", "calico-system", "gatekeeper-system")
DRA_NAMESPACES: Final = ("dra-driver-nvidia-gpu", "nvidia-dra-driver-gpu")
"""Namespaces in which NVIDIA's guides put its DRA driver for GPUs, now and before its release 0.4."""
_CALLED: Final = (*OPERATOR_NAMESPACES, "nvidia-network-operator", *DRA_NAMESPACES, "gpu-resources")
"""Namespaces as this program calls the operators', and as NVIDIA's and AMD's guides do (Network Operator and GPU
Operator, "Getting Started"; AMD GPU Operator, "Kubernetes (Helm)"), and AKS's guide of GPUs, which puts NVIDIA's device
plugin in gpu-resources (MicrosoftDocs/azure-aks-docs fb060ab, use-nvidia-gpu.md)."""
_POLICIES: Final = ("NicClusterPolicy", "NicNodePolicy", "ClusterPolicy", "GPUCluster", "NVIDIADriver", "DeviceConfig")
"""Kinds of the objects that own what the operators make."""
_PARTS: Final = re.compile(
    r"^(network-operator|gpu-operator|doca-driver|mofed|k8s-rdma-shared-dev-plugin|sriov-network-device-plugin"
    r"|nvidia-k8s-ipam|k8s-device-plugin|dcgm-exporter|driver:|container-toolkit|gpu-operator-validator"
    r"|amd-gpu-operator|kernel-module-management|device-metrics-exporter|dra-driver-nvidia-gpu|k8s-dra-driver-gpu)"
)
"""Names of the images of the operators and of their parts (their releases' lists of images)."""
_OF_NODES: Final = "default"
"""Namespace of Events about nodes: of all Events about objects that are in no namespace."""
_ACCOUNTS: Final[dict[str, Owner]] = {
    "aks-auto-repair": "AKS",
    "node-problem-detector": "AKS",
    "kubelet": "AKS",
    "aks-infiniband-light-check": "ours",
    "aks-infiniband-replace": "ours",
}
"""Authors of Events about a node."""
_OVER: Final = ("Succeeded", "Failed")


def owner_of(item: Object, operators: Collection[str] = OPERATOR_NAMESPACES, ours: str = SYSTEM_NAMESPACE) -> Owner:
    """The owner of an object in a namespace, or of an Event about a node.

    operators: their namespaces. ours: the namespace of the validations.
    """
    namespace = str(item["metadata"].get("namespace"))
    about = item.get("involvedObject") or {}
    if about.get("kind") == "Node":
        said_by = str((item.get("source") or {}).get("component"))
        return _ACCOUNTS.get(said_by, "another") if namespace == _OF_NODES else "another"
    if namespace in operators:
        return "operator"
    if namespace in AKS_NAMESPACES:
        return "AKS"
    return "ours" if namespace == ours else "another"


def is_over(pod: Object) -> bool:
    """True if a pod has ended: it runs nothing and holds nothing, whatever its containers' last word was."""
    return (pod.get("status") or {}).get("phase") in _OVER


def operators_pods(pods: Iterable[Object], operators: Collection[str] = OPERATOR_NAMESPACES) -> list[Object]:
    """The pods that the operators' DaemonSets have on nodes, without those that have ended.

    operators: their namespaces.
    """
    return [
        pod for pod in pods if not is_over(pod) and owner_of(pod, operators) == "operator" and is_of_daemon_set(pod)
    ]


def is_of_daemon_set(pod: Object) -> bool:
    """True if a DaemonSet controls the pod."""
    return any(owner.get("kind") == "DaemonSet" and owner.get("controller", True) for owner in owners_of(pod))


def operator_namespaces(view: View) -> set[str]:
    """The namespaces in which an operator, or a part of one, runs.

    An image alone does not prove it, because a tenant may run it too. The image counts only without a DaemonSet that a
    policy has made.
    """
    workloads = (*view.daemon_sets, *view.deployments)
    made = _made(view)
    namespaces = {_namespace(item) for item in workloads if any(_PARTS.match(image) for image in images_of(item))}
    known = made | (namespaces & set(_CALLED))
    return (known if made else namespaces).difference(AKS_NAMESPACES)


def trusted_namespaces(view: View) -> set[str]:
    """The namespaces whose pods are believed to be an operator's: those that are called so, and those in which a policy
    has made DaemonSets.
    """
    return {*_CALLED, *_made(view)}.difference(AKS_NAMESPACES)


def _made(view: View) -> set[str]:
    """The namespaces in which policies have made DaemonSets. If one of a kind's is called as in the guides, no other of
    that kind counts, for a tenant may write an owner reference, too.
    """
    policies = {policy["metadata"].get("uid") for policy in view.policies} - {None}
    by_kind: dict[str, set[str]] = {}
    for item in view.daemon_sets:
        for owner in owners_of(item):
            if owner.get("kind") in _POLICIES and (not policies or owner.get("uid") in policies):
                by_kind.setdefault(str(owner["kind"]), set()).add(_namespace(item))
    return {place for places in by_kind.values() for place in places.intersection(_CALLED) or places}


def _namespace(item: Object) -> str:
    return str(item["metadata"].get("namespace"))


def images_of(workload: Object) -> list[str]:
    """The images of a pod, or of what makes pods, without their registry."""
    spec = workload["spec"].get("template", workload)["spec"]
    containers: Iterable[Object] = [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]
    return [str(container.get("image") or "").rpartition("/")[2] for container in containers]
