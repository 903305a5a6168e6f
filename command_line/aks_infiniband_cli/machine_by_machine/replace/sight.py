"""The visible state of a pool: its healthy nodes, the reasons that keep one from use, and Azure's own actions. Pure."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.diagnosis.ownership import owner_of
from aks_infiniband.diagnosis.repairs import driver_pods, repair_findings, serves
from aks_infiniband.diagnosis.view import View, condition
from aks_infiniband.facts.azure_names import AGENT_POOL_LABEL
from aks_infiniband.facts.managed import AUTO_DRAIN, SCHEDULED_EVENTS
from aks_infiniband.resources.metadata import OPERATOR_NAMESPACES
from aks_infiniband.validation.machines import teller_of
from aks_infiniband.validation.reports import CONDITION, lacks

from aks_infiniband_cli.machine_by_machine.replace.drain import described, leaving
from aks_infiniband_cli.machine_by_machine.replace.quarantine import is_in_quarantine
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import busy, name_of, nodes_of

_GOING: Final = ("ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler")
_UPGRADE: Final = "kubernetes.azure.com/upgrade-status"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """One look at the cluster. events: of nodes, from AKS's auto-repair. operators: their namespaces."""

    validation: Deployed
    nodes: Sequence[Object]
    pods: Sequence[Object]
    events: Sequence[Object]
    operators: Collection[str] = OPERATOR_NAMESPACES

    def node(self, name: str) -> Object | None:
        """A node of the pool; None if it is gone."""
        return next((node for node in self.of_pool() if name_of(node) == name), None)

    def of_pool(self) -> list[Object]:
        """The pool's nodes."""
        return nodes_of(self.nodes, self.validation)

    def lacks(self, node: Object) -> list[str]:
        """The reasons that keep a node from use, except its quarantine.

        Its resources may be older than its last boot, so its drivers have to be there, too.
        """
        spec = {key: value for key, value in (node.get("spec") or {}).items() if key != "unschedulable"}
        waiting = [f"pod {name_of(pod)} of its driver is not ready" for pod in self._coming_up(node)]
        return [*lacks({**node, "spec": spec}, self.validation.promise), *waiting]

    def serves(self, node: Object) -> bool:
        """True if a node is Ready, and so are its drivers: a resource that it does not offer then hardly comes
        later.
        """
        return condition(node, "Ready").get("status") == "True" and not self._coming_up(node)

    def _coming_up(self, node: Object) -> list[Object]:
        return [pod for pod in driver_pods(self.pods, node, self.operators) if not serves(pod)]

    def busy(self, name: str) -> str:
        """The users of the node, in words."""
        return busy(name, self.pods, self.validation, self.operators)

    def used(self, name: str, beside: Iterable[str]) -> str:
        """Other users of a node that is measured, or of RDMA or GPUs of its partners, in words."""
        others = [pod for pod in self.pods if owner_of(pod, self.operators, self.validation.namespace) == "another"]
        users = (busy(each, others, self.validation, self.operators) for each in (name, *beside))
        return described(leaving(others, name)) or next(filter(None, users), "")

    def azure(self, node: Object) -> str:
        """Azure's own actions on a node, in words; empty if there are none."""
        for kind in SCHEDULED_EVENTS:
            event = condition(node, kind)
            if event.get("status") == "True":
                what = event.get("message") or event.get("reason") or ""
                return f"Azure has scheduled an event for it ({kind}: {what})"
        taints = [str(taint.get("key")) for taint in (node.get("spec") or {}).get("taints") or []]
        if going := [key for key in taints if key in _GOING]:
            return f"the cluster autoscaler is about to remove it ({going[0]})"
        if AUTO_DRAIN in taints:
            return f"AKS has drained it for a scheduled event of Azure's (taint {AUTO_DRAIN})"
        labels = node["metadata"].get("labels") or {}
        if _UPGRADE in labels:
            return f"AKS upgrades it ({_UPGRADE}: {labels[_UPGRADE]})"
        view = View(nodes=[node], events=list(self.events))
        repairs = [each.what for each in repair_findings(view) if each.symptom == "node-under-repair"]
        return f"AKS repairs it by itself: {repairs[0]}" if repairs else ""

    def healthy(self, but: Iterable[str]) -> list[str]:
        """The pool's healthy nodes, except some: those that have all, that no program has taken out, and that the light
        check does not accuse.
        """
        left_out = set(but)
        return [
            name_of(node)
            for node in self.of_pool()
            if name_of(node) not in left_out
            and not lacks(dict(node), self.validation.promise)
            and not is_in_quarantine(node)
            and condition(node, CONDITION).get("status") != "False"
            and not self.azure(node)
        ]

    def idle(self, names: Iterable[str]) -> list[str]:
        """The idle ones of the nodes."""
        return [name for name in names if not self.busy(name)]


def boot_of(node: Object) -> str:
    """The boot ID that the kubelet has reported."""
    return str(((node.get("status") or {}).get("nodeInfo") or {}).get("bootID", ""))


def resource_of(node: Object) -> str:
    """The machine's ID in Azure; empty for a node that is not a machine of Azure."""
    return str((node.get("spec") or {}).get("providerID", "")).removeprefix("azure://")


def agent_pool_of(node: Object) -> str:
    """AKS's name of the node's pool; empty for a node outside AKS."""
    return str((node["metadata"].get("labels") or {}).get(AGENT_POOL_LABEL, ""))


def unhealthy(nodes: Sequence[Object], since: Mapping[str, str]) -> dict[str, str]:
    """The nodes that the light check calls unhealthy, and why.

    since: by node, the time at which it was last admitted. Earlier words of the light check are about the machine
    before.
    """
    accused = {}
    for node in nodes:
        said: Mapping[str, Any] = condition(node, CONDITION)
        heard = str(said.get("lastHeartbeatTime") or "")
        if said.get("status") == "False" and _moment(heard) > _moment(since.get(name_of(node), "")):
            accused[name_of(node)] = f"{teller_of(said)}: {said.get('message') or said.get('reason')}"
    return accused


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text) if text else datetime.min.replace(tzinfo=UTC)
