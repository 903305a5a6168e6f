"""The namespaces that are not for workloads: those of the system, of the operators, and our own."""

from collections.abc import Iterable
from typing import Any, Final

from aks_infiniband.facts.compute_domains import NAMESPACE as DRA_DRIVER_NAMESPACE
from aks_infiniband.resources.metadata import (
    CERT_MANAGER_NAMESPACE,
    OPERATOR_NAMESPACES,
    PRIVILEGED,
    SYSTEM_NAMESPACE,
    labels,
)

_PREFIXES: Final = {
    "kube-": "is Kubernetes' own: it reserves the names that begin with kube-",
    "aks-istio-": "is AKS' own, with its service mesh",
}
"""Kubernetes, "Namespaces", working with namespaces; AKS, "Istio-based service mesh add-on". Not all of aks-: our own
namespace of workloads begins so, and so may a team's."""
_AKS: Final = "belongs to AKS, and its add-ons run there"
_OPERATOR: Final = "belongs to an operator, whose pods are privileged"
_NAMES: Final = {
    "aks-command": "belongs to AKS, and `az aks command invoke` runs there as the cluster's administrator",
    **dict.fromkeys(("app-routing-system", "azure-arc", "calico-system", "gatekeeper-system"), _AKS),
    **dict.fromkeys(("tigera-operator", "tigera-system"), _AKS),
    **dict.fromkeys((*OPERATOR_NAMESPACES, "nvidia-network-operator", "nvidia-gpu-operator"), _OPERATOR),
    **dict.fromkeys(("node-feature-discovery", CERT_MANAGER_NAMESPACE, DRA_DRIVER_NAMESPACE), _OPERATOR),
    SYSTEM_NAMESPACE: "is not for workloads: the validations and the Secret are there",
}
"""AKS', as its documents name them ("Use Azure Policy", "Deployment safeguards", "Application routing add-on", "Access
a private cluster with command invoke"; assumed: not read again on 2026-11-23); the operators', ours and those of
NVIDIA's installation guides. `default` is missing on purpose: people do run Jobs there, and nothing of the system."""


def namespace_of_ours(name: str, part: str) -> dict[str, Any]:
    """A namespace of this program's. Only the Pod Security level privileged admits IPC_LOCK.

    part: what it is for.
    """
    described = {**labels("aks-infiniband", part), **PRIVILEGED}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": described}}


def why_not_for_workloads(namespace: str) -> str | None:
    """The reason why a namespace gets neither workloads' settings nor their Secret nor their guard; None if it may.

    Its administrators are the cluster's: another user than meant would read the pull Secret there, or run pods; and a
    guard would refuse the very pods for which the namespace is there.
    """
    by_prefix = (reason for prefix, reason in _PREFIXES.items() if namespace.startswith(prefix))
    return _NAMES.get(namespace) or next(by_prefix, None)


def why_not_ours(namespace: str) -> str | None:
    """Why nothing of this program belongs into a namespace, a Secret neither: it is Kubernetes' or AKS'. None for a
    namespace of the operators, of this program or of people.
    """
    reason = why_not_for_workloads(namespace)
    return reason if reason and "own" in reason else None


def require_for_workloads(namespaces: Iterable[str]) -> None:
    """Raises ValueError that names the first namespace which is not for workloads."""
    for namespace in namespaces:
        if reason := why_not_for_workloads(namespace):
            raise ValueError(f"namespaces: {namespace} {reason}; name one of workloads")
