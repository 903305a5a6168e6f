"""The pods that have to leave a node before its driver is replaced, and those of them that cannot: kubectl's drain
filters.

k8s.io/kubectl/pkg/drain with IgnoreAllDaemonSets, as NVIDIA's upgrade library calls it (k8s-operator-libs,
pkg/upgrade/drain_manager.go and pod_manager.go).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rehearsal.operators.plan import Document, Snapshot, annotation, labels_of
from rehearsal.operators.selectors import selects

_MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True, kw_only=True)
class Leaving:
    """The pods that have to leave a node."""

    pods: list[Document]
    """All that are still there, being deleted or not."""
    stuck: list[str]
    """Why some of them may not be evicted."""

    @property
    def to_evict(self) -> list[Document]:
        """The pods that have not been evicted yet."""
        return [pod for pod in self.pods if "deletionTimestamp" not in pod["metadata"]]


def leaving(
    snapshot: Snapshot, node: str, settings: Mapping[str, object], *, chosen: Callable[[Document], bool] | None = None
) -> Leaving:
    """The pods that a drain of the node is about.

    settings: `drain` or `podDeletion` of an upgrade policy: podSelector, force, deleteEmptyDir. chosen: further filter.
    """
    selector = str(settings.get("podSelector") or "")
    pods = [
        pod
        for pod in snapshot.of("Pod")
        if pod["spec"].get("nodeName") == node
        and not _stays(pod)
        and selects(selector, labels_of(pod))
        and (chosen is None or chosen(pod))
    ]
    stuck = [reason for pod in pods if (reason := _obstacle(pod, settings)) is not None]
    return Leaving(pods=pods, stuck=stuck)


def uses_gpus(pod: Document) -> bool:
    """True if a pod requests GPUs or parts of them, and has not ended (gpuPodSpecFilter of the GPU Operator)."""
    if (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
        return False
    asked = {
        name
        for container in pod["spec"].get("containers") or ()
        for kind in ("limits", "requests")
        for name in (container.get("resources") or {}).get(kind) or {}
    }
    return any(name.startswith(("nvidia.com/gpu", "nvidia.com/mig-")) for name in asked)


def _stays(pod: Document) -> bool:
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner["kind"] == "DaemonSet" for owner in owners) or annotation(pod, _MIRROR) is not None


def _obstacle(pod: Document, settings: Mapping[str, object]) -> str | None:
    if (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}:
        return None
    name = f"{pod['metadata'].get('namespace')}/{pod['metadata']['name']}"
    owned = any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences") or ())
    if not owned and not settings.get("force"):
        return f"{name} declares no controller (use force)"
    scratch = any("emptyDir" in volume for volume in pod["spec"].get("volumes") or ())
    if scratch and not settings.get("deleteEmptyDir"):
        return f"{name} has local storage (use deleteEmptyDir)"
    return None
