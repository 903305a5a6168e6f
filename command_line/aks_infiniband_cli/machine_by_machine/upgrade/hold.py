"""Machines that keep their system while another of their pool gets a new one.

AKS drains a node before it reimages it, and waits for what a PodDisruptionBudget holds: so a small pod on each node,
and a budget that lets none of them go. AKS waits for it for 30 minutes (drainTimeoutInMinutes), then stops the upgrade,
and continues with the next request (MicrosoftDocs/azure-aks-docs fb060ab, upgrade-aks-node-pools-rolling.md). So
whatever becomes of this command, no machine is upgraded that it has not let go.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from aks_infiniband.resources.metadata import PART_OF
from lightkube import Client
from lightkube.resources.core_v1 import Pod
from lightkube.resources.policy_v1 import PodDisruptionBudget

from aks_infiniband_cli.cluster import refusal_allowed
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Holds:
    """The nodes of a pool that AKS cannot drain. namespace: of the pods that hold them."""

    client: Client
    pool: str
    namespace: str

    def hold(self, validation: Deployed, nodes: Sequence[str]) -> None:
        """Hold nodes, and wait until AKS cannot drain them. Nodes that are held already stay so.

        Raises CommandError if the pods that hold them do not run.
        """
        self._make(PodDisruptionBudget, budget(self.pool, self.namespace))
        for node in nodes:
            self._make(Pod, holder(validation, node))
        deadline = time.monotonic() + _HELD_SECONDS

        def all_run() -> bool | None:
            if time.monotonic() > deadline:
                pods = (
                    f"kubectl --namespace {self.namespace} get pods --selector app.kubernetes.io/managed-by={MANAGER}"
                )
                raise CommandError(f"the pods that hold the machines of pool {self.pool} do not run: {pods}")
            status = (self.budget() or {}).get("status") or {}
            return int(status.get("currentHealthy") or 0) >= len(nodes) or None

        until(all_run)

    def let_go(self, nodes: Sequence[str]) -> Sequence[str]:
        """Let AKS drain nodes, which it returns."""
        for node in nodes:
            self._delete(Pod, f"{MANAGER}-{node}")
        return nodes

    def nodes(self) -> list[str]:
        """The nodes that are held."""
        labels: Any = _labels(self.pool)
        pods = [pod.to_dict() for pod in self.client.list(Pod, namespace=self.namespace, labels=labels)]
        return sorted(str(pod["spec"]["nodeName"]) for pod in pods if "deletionTimestamp" not in pod["metadata"])

    def release(self) -> list[str]:
        """Let AKS drain every node of the pool; returns those that were held."""
        names = list(self.let_go(self.nodes()))
        self._delete(PodDisruptionBudget, f"{MANAGER}-{self.pool}")
        return names

    def request_stop(self, *, stop: bool) -> None:
        """Request that the upgrade of the pool stops, or (False) that it may continue."""
        if self.budget() is not None:
            change = {"metadata": {"annotations": {STOPPED: "true" if stop else None}}}
            self.client.patch(PodDisruptionBudget, f"{MANAGER}-{self.pool}", change, namespace=self.namespace)

    def budget(self) -> Object | None:
        """The pool's budget in the cluster; None without one."""
        with refusal_allowed(HTTPStatus.NOT_FOUND):
            budget: Object = self.client.get(
                PodDisruptionBudget, f"{MANAGER}-{self.pool}", namespace=self.namespace
            ).to_dict()
            return budget
        return None

    def _make(self, kind: Any, document: dict[str, Any]) -> None:
        with refusal_allowed(HTTPStatus.CONFLICT):
            self.client.create(kind.from_dict(document))

    def _delete(self, kind: Any, name: str) -> None:
        with refusal_allowed(HTTPStatus.NOT_FOUND):
            self.client.delete(kind, name, namespace=self.namespace)


def is_stopped(budget: Object | None) -> bool:
    """True if a person has requested a stop of the upgrade whose budget this is."""
    return budget is not None and (budget["metadata"].get("annotations") or {}).get(STOPPED) == "true"
