"""Machines that keep their system while another of their pool gets a new one.

AKS drains a node before it reimages it, and waits for what a PodDisruptionBudget holds: so a small pod on each node,
and a budget that lets none of them go. AKS waits for it for 30 minutes (drainTimeoutInMinutes), then stops the upgrade,
and continues with the next request (MicrosoftDocs/azure-aks-docs fb060ab, upgrade-aks-node-pools-rolling.md). So
whatever becomes of this command, no machine is upgraded that it has not let go.
"""

import time
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from typing import Any, Final, cast

from aks_infiniband.resources.metadata import PART_OF
from lightkube import ApiError, Client
from lightkube.resources.core_v1 import Pod
from lightkube.resources.policy_v1 import PodDisruptionBudget

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import until

STOPPED: Final = "aks-infiniband/stopped"
"""Annotation of a pool's budget: a person has requested a stop of the upgrade."""
MANAGER: Final = "aks-infiniband-upgrade"
"""The manager that the labels of everything here name."""
_POOL: Final = "app.kubernetes.io/instance"
_HELD_SECONDS: Final = 300.0
"""So long the pods may take that hold machines. Their image is there."""
_NEVER: Final = 1_000_000
"""More pods than there are nodes: so many must run before one may be evicted."""


def _labels(pool: str) -> dict[str, str]:
    names = {"app.kubernetes.io/name": "upgrade", "app.kubernetes.io/component": "hold", _POOL: pool}
    return {**names, **PART_OF, "app.kubernetes.io/managed-by": MANAGER}


def budget(pool: str, namespace: str) -> dict[str, Any]:
    """The budget that lets no held node of a pool be drained."""
    return {
        "metadata": {"name": f"{MANAGER}-{pool}", "namespace": namespace, "labels": _labels(pool)},
        "spec": {"minAvailable": _NEVER, "selector": {"matchLabels": _labels(pool)}},
    }


def holder(validation: Deployed, node: str) -> dict[str, Any]:
    """The pod that holds a node. Its image is the validation's, which every node of the pool has already."""
    image = validation.template["spec"]["containers"][0]["image"]
    container = {
        "name": "hold",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sleep", "infinity"],
        "resources": {"requests": {"cpu": "1m", "memory": "8Mi"}, "limits": {"memory": "32Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "runAsNonRoot": True,
            "runAsUser": 65534,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    spec = {
        "nodeName": node,
        "automountServiceAccountToken": False,
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 0,
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
        **{key: template for key in ("imagePullSecrets",) if (template := validation.template["spec"].get(key))},
    }
    name = f"{MANAGER}-{node}"
    return {
        "metadata": {"name": name, "namespace": validation.namespace, "labels": _labels(validation.pool)},
        "spec": spec,
    }


def hold(client: Client, validation: Deployed, nodes: Sequence[Object]) -> None:
    """Hold nodes, and wait until AKS cannot drain them. Nodes that are held already stay so.

    Raises CommandError if the pods that hold them do not run.
    """
    namespace, names = validation.namespace, [name_of(node) for node in nodes]
    _make(client, PodDisruptionBudget, budget(validation.pool, namespace))
    for node in names:
        _make(client, Pod, holder(validation, node))

    deadline = time.monotonic() + _HELD_SECONDS

    def held() -> bool | None:
        if time.monotonic() > deadline:
            pods = f"kubectl --namespace {namespace} get pods --selector app.kubernetes.io/managed-by={MANAGER}"
            raise CommandError(f"the pods that hold the machines of pool {validation.pool} do not run: {pods}")
        found = _budget(client, validation.pool, namespace)
        status = (found or {}).get("status") or {}
        return True if int(status.get("currentHealthy") or 0) >= len(names) else None

    until(held)


def let(client: Client, validation: Deployed, nodes: Iterable[str]) -> None:
    """Let AKS drain nodes."""
    for node in nodes:
        _delete(client, Pod, f"{MANAGER}-{node}", validation.namespace)


def held_nodes(client: Client, pool: str, namespace: str) -> list[str]:
    """The nodes of a pool that are held."""
    labels: Any = _labels(pool)
    pods = [pod.to_dict() for pod in client.list(Pod, namespace=namespace, labels=labels)]
    return sorted(str(pod["spec"]["nodeName"]) for pod in pods if "deletionTimestamp" not in pod["metadata"])


def release(client: Client, pool: str, namespace: str) -> list[str]:
    """Let AKS drain every node of a pool; returns those that were held."""
    names = held_nodes(client, pool, namespace)
    for node in names:
        _delete(client, Pod, f"{MANAGER}-{node}", namespace)
    _delete(client, PodDisruptionBudget, f"{MANAGER}-{pool}", namespace)
    return names


def ask_to_stop(client: Client, pool: str, namespace: str, *, stop: bool) -> None:
    """Request that the upgrade of the pool stops, or (False) that it may continue."""
    if _budget(client, pool, namespace) is not None:
        change = {"metadata": {"annotations": {STOPPED: "true" if stop else None}}}
        client.patch(PodDisruptionBudget, f"{MANAGER}-{pool}", change, namespace=namespace)


def is_stopped(client: Client, pool: str, namespace: str) -> bool:
    """True if a person has requested a stop."""
    found = _budget(client, pool, namespace) or {"metadata": {}}
    return (found["metadata"].get("annotations") or {}).get(STOPPED) == "true"


def _budget(client: Client, pool: str, namespace: str) -> Object | None:
    try:
        return cast("Object", client.get(PodDisruptionBudget, f"{MANAGER}-{pool}", namespace=namespace).to_dict())
    except ApiError as error:
        if error.status.code == HTTPStatus.NOT_FOUND:
            return None
        raise


def _make(client: Client, kind: Any, document: dict[str, Any]) -> None:
    try:
        client.create(kind.from_dict(document))
    except ApiError as error:
        if error.status.code != HTTPStatus.CONFLICT:
            raise


def _delete(client: Client, kind: Any, name: str, namespace: str) -> None:
    try:
        client.delete(kind, name, namespace=namespace)
    except ApiError as error:
        if error.status.code != HTTPStatus.NOT_FOUND:
            raise
