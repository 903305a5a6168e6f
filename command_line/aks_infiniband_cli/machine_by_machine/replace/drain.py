"""Pods leave a node, as `kubectl drain` has them leave: by eviction, which disruption budgets may forbid."""

from collections.abc import Sequence
from http import HTTPStatus

from aks_infiniband.diagnosis.ownership import is_over
from lightkube import ApiError, Client
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Pod

from aks_infiniband_cli.validate.deployed import Object

_STAY = ("DaemonSet", "Node")
"""Owners of pods that belong to the machine: Node is a static pod's."""


def leaving(pods: Sequence[Object], node: str) -> list[Object]:
    """The pods that have to leave a node."""
    here = [pod for pod in pods if (pod.get("spec") or {}).get("nodeName") == node]
    return [pod for pod in here if not is_over(pod) and not _stays(pod)]


def _stays(pod: Object) -> bool:
    return any(owner.get("kind") in _STAY for owner in _owners(pod))


def uncontrolled(pods: Sequence[Object]) -> list[Object]:
    """Pods that no controller makes again elsewhere: `kubectl drain` requires --force for them."""
    return [pod for pod in pods if not any(owner.get("controller") for owner in _owners(pod))]


def _owners(pod: Object) -> list[Object]:
    return pod["metadata"].get("ownerReferences") or []


def described(pods: Sequence[Object]) -> str:
    """Their names, a few of them."""
    names = [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"pods {', '.join(names[:3])}{more} run there" if names else ""


def evict(client: Client, pods: Sequence[Object]) -> list[Object]:
    """Request the eviction of pods; those that a disruption budget keeps for now."""
    return [pod for pod in pods if not _evicted(client, pod)]


def _evicted(client: Client, pod: Object) -> bool:
    name, namespace = str(pod["metadata"]["name"]), str(pod["metadata"]["namespace"])
    try:
        client.create(Pod.Eviction(metadata=ObjectMeta(name=name, namespace=namespace)), name=name, namespace=namespace)
    except ApiError as error:
        if error.status.code == HTTPStatus.TOO_MANY_REQUESTS:
            return False
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise
    return True
