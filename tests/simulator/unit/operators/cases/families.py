"""The kinds of cases: an operator each, on its usual cluster with its usual policy.

A case is the first step of a story, and `then` has the next ones. A step changes the cluster, by its keys in their
order; then the operator reconciles until nothing is left to do. The outcome of a step is what the operator changed:
of an object that is new, what differs from an object of the usual policy. In a rollout, and with `each`, the outcome
of a step is a list of the changes of each reconcile. `whole` shows all that a cluster has.
"""

import copy
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from rehearsal.operators import compute_domains
from rehearsal.operators.amd import reconcile as amd
from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import DIGEST, Plan
from tests.cases import ALL, GONE, Case, changes, patched, replaced
from tests.simulator.unit.operators.cluster import NOW, POLICIES, Cluster, Document

DRIVER: Final = "DRIVER"
"""In a case: the name of the DaemonSet of the operator's driver."""
CHANGES: Final = ("change", "pods", "scheduled", "revisions")
OTHER_KEYS: Final = ("policy", "now", "replacing", "whole", "each", "rules", "there")
RECONCILES: Final = 60
"""More than any story needs until the operator rests."""
USUAL_RULES: Final[Document] = {
    "drain": {"enable": True, "force": True, "podSelector": "", "timeoutSeconds": 300, "deleteEmptyDir": True},
    "podDeletion": {"force": False, "timeoutSeconds": 300, "deleteEmptyDir": True},
}
"""Rules of an upgrade, as far as a case names them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Operator:
    """A simulated operator, and the usual cluster of its cases."""

    reconcile: Callable[..., Plan]
    usual: Callable[[Cluster], None]
    policy: Document
    """The usual policy, with every section."""
    only_sections: bool = False
    """A policy has only the sections that a case names."""
    driver: str = "(none)"
    """The DaemonSet of its driver."""
    nodes: tuple[str, ...] = ()
    """The nodes of a rollout."""
    has_gpus: bool = False
    """True if a new node has GPUs."""

    def spec(self, change: Document) -> Document:
        """The specification of a policy with this change."""
        base = {key: self.policy["spec"].get(key, {}) for key in change} if self.only_sections else self.policy["spec"]
        spec: Document = patched(base, change)
        return spec


class Story:
    """A cluster, and what happens in it."""

    def __init__(self, operator: Operator) -> None:
        self.operator, self.cluster = operator, Cluster()
        operator.usual(self.cluster)
        self.cluster.add(copy.deepcopy(operator.policy))

    def act(self, step: Case) -> None:
        """Change the cluster by a step."""
        assert step.keys() <= {*CHANGES, *OTHER_KEYS}
        for key, value in step.items():
            for name, change in value.items() if key in CHANGES else ():
                getattr(self, f"_{key}")(name, change)
            if key == "policy":
                kind, name = self.operator.policy["kind"], self.operator.policy["metadata"]["name"]
                self.cluster.objects[kind][name]["spec"] = self.operator.spec(value)

    def _change(self, kind: str, named: Mapping[str, Any]) -> None:
        for name, change in named.items():
            objects = self.cluster.objects.setdefault(kind, {})
            if change == GONE:
                del objects[name]
            elif kind.endswith("Policy") and name not in objects:
                policy = {**self.operator.policy, "kind": kind, "metadata": {"name": name}}
                self.cluster.add({**policy, "spec": self.operator.spec(change.get("spec", {}))})
            else:
                old = objects.get(name) or self._fresh(kind, name)
                objects[name] = patched(old, change)

    def _fresh(self, kind: str, name: str) -> Document:
        if kind == "Node":
            return self.cluster.node(name, gpu=self.operator.has_gpus)
        if kind == "Pod":
            return self.cluster.workload(name, self.operator.nodes[0])
        spec = copy.deepcopy(self.operator.policy["spec"]) if kind == self.operator.policy["kind"] else {}
        return self.cluster.add({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec})

    def _pods(self, daemon_set: str, ready: Mapping[str, bool]) -> None:
        for node, is_ready in ready.items():
            self.cluster.pod(daemon_set, node, ready=is_ready)

    def _scheduled(self, daemon_set: str, numbers: list[int]) -> None:
        for name in self.cluster.objects["DaemonSet"] if daemon_set == ALL else [daemon_set]:
            self.cluster.scheduled(name, *numbers)

    def _revisions(self, daemon_set: str, number: int) -> None:
        self.cluster.revision(daemon_set, number)

    def reconciled(self, step: Case) -> Iterator[Plan]:
        """Reconcile until nothing is left to do."""
        for _ in range(RECONCILES):
            plan = self.operator.reconcile(self.cluster.snapshot(), now=step.get("now", NOW))
            if plan == Plan():
                return
            self.cluster.obey(plan, replacing=step.get("replacing", True))
            yield plan
        raise AssertionError(f"the operator does not come to rest; it still wants {plan}")

    def told(self, step: Case, *, first: bool) -> Any:
        """The operator's changes after a step; after the first one, all that is not as with the usual policy."""
        if step.get("each"):
            return self.rolled(step)
        self.act(step)
        before, known = shown(self.cluster), {} if step.get("whole") else usual(self.operator)
        deque(self.reconciled(step), 0)
        after = shown(self.cluster)
        if after == before:
            return "nothing"
        return difference(known if first and not self.operator.only_sections else before, after, known)

    def rolled(self, step: Case) -> list[Document]:
        """The changes of each reconcile after a step."""
        self.act(step)
        told, before = [], shown(self.cluster)
        for plan in self.reconciled(step):
            evicted = [pod["metadata"]["name"] for pod in plan.evictions]
            after = shown(self.cluster)
            told.append(difference(before, after, {}) | ({"evicted": evicted} if evicted else {}))
            before = after
        return told


def shown(cluster: Cluster) -> Document:
    """The objects of a cluster without made-up values; an owner by its kind and name."""
    owners = {
        item["metadata"]["uid"]: (kind, name) for kind, named in cluster.objects.items() for name, item in named.items()
    }
    return {
        kind: {name: _shown(item, owners) for name, item in named.items()} for kind, named in cluster.objects.items()
    }


def _shown(document: Document, owners: Mapping[str, tuple[str, str]]) -> Document:
    made_up = ("uid", "creationTimestamp", "generation")
    item = copy.deepcopy(document)
    metadata = item["metadata"] = {key: value for key, value in item["metadata"].items() if key not in made_up}
    annotations = metadata.pop("annotations", None) or {}
    if kept := {key: value for key, value in annotations.items() if key != DIGEST}:
        metadata["annotations"] = kept
    if references := metadata.get("ownerReferences"):
        metadata["ownerReferences"] = [
            " ".join(owners[owner["uid"]])
            if owners.get(owner["uid"]) == (owner.get("kind"), owner.get("name")) and owner["controller"]
            else owner
            for owner in references
        ]
    if states := (item.get("status") or {}).pop("appliedStates", ()):
        groups: dict[str, list[str]] = {}
        for each in states:
            groups.setdefault(each["state"], []).append(": ".join(filter(None, (each["name"], each.get("message")))))
        item["status"]["parts"] = groups | {"ignore": len(groups.get("ignore", ()))}
    if item["kind"].endswith(("Policy", "Config")) and "conditions" in item.get("status", {}):
        item["status"]["conditions"] = {
            each.pop("type"): " ".join(map(str, each.values())).strip() for each in item["status"]["conditions"]
        }
    return item


def difference(before: Document, after: Document, usual: Document) -> Document:
    """The change from a cluster to another one."""
    told: Document = {}
    for kind in {**before, **after}:
        old, new = before.get(kind, {}), after.get(kind, {})
        changed = {
            name: changes(old[name], item) if name in old else likened(name, item, usual.get(kind, {}))
            for name, item in new.items()
            if item != old.get(name)
        }
        if changed := changed | {name: GONE for name in old if name not in new}:
            told[kind] = changed
    return told


def likened(name: str, item: Document, usual: Mapping[str, Document]) -> Document:
    """A new object as a change of the usual one that is most like it."""
    if not usual:
        return item
    if name in usual:
        differs: Document = changes(usual[name], item)
        return differs
    by_name = {other: changes(replaced(known, other, name), item) for other, known in usual.items()}
    like = min(by_name, key=lambda other: len(str(by_name[other])))
    return {"like": like, **by_name[like]}


@cache
def usual(operator: Operator) -> Document:
    """The cluster with all that the operator makes of its usual policy."""
    story = Story(operator)
    deque(story.reconciled({}), 0)
    return shown(story.cluster)


def outcome(name: str, case: Case) -> list[Any]:
    """The operator's changes after each step of a case."""
    operator = OPERATORS[name]
    story, steps = Story(operator), steps_of(case, operator)
    told: list[Any] = [story.told(step, first=step is steps[0]) for step in steps]
    return replaced(told, operator.driver, DRIVER)  # type: ignore[no-any-return]


def outcome_of_rollout(name: str, case: Case) -> list[Any]:
    """The changes of each reconcile after each step of a case, from a new template of the driver on."""
    operator = OPERATORS[name]
    story, steps = Story(operator), steps_of(case, operator)
    begin_rollout(story, steps[0])
    told: list[Any] = [story.rolled(step) for step in steps]
    return replaced(told, operator.driver, DRIVER)  # type: ignore[no-any-return]


def steps_of(case: Case, operator: Operator) -> list[Case]:
    """The steps of a case."""
    first = {key: value for key, value in case.items() if key != "then"}
    steps: list[Case] = replaced([first, *case.get("then", ())], DRIVER, operator.driver)
    return steps


def begin_rollout(story: Story, case: Case) -> None:
    """Every node has the driver, by the rules of a case, and its template has just changed."""
    operator, driver = story.operator, story.operator.driver
    story.act({"change": {"Node": {name: {} for name in operator.nodes}}})
    rules = {key: patched(USUAL_RULES.get(key), value) for key, value in case.get("rules", {}).items()}
    section = "ofedDriver" if operator.only_sections else "driver"
    story.act({"policy": {section: {"upgradePolicy": rules}}})
    next(story.reconciled({}))
    story.act({"revisions": {driver: 1}, "pods": {driver: dict.fromkeys(operator.nodes, True)}})
    story.act({"pods": case.get("there", {})})
    deque(story.reconciled({}), 0)
    story.act({"revisions": {driver: 2}})


def network_cluster(cluster: Cluster) -> None:
    """The Network Operator, two nodes with HCAs and one without any."""
    cluster.operator("network-operator", network.OPERATOR_LABELS)
    cluster.node("ib-0")
    cluster.node("ib-1")
    cluster.node("system-0", nic=False)


def gpu_cluster(cluster: Cluster) -> None:
    """The GPU Operator, a node with GPUs and one without any."""
    cluster.operator("gpu-operator", gpu.OPERATOR_LABELS)
    cluster.node("gpu-0", gpu=True)
    cluster.node("system-0", nic=False)


def amd_cluster(cluster: Cluster) -> None:
    """AMD's operator, and the one that loads its driver; a node with AMD's GPUs, and one with NVIDIA's."""
    for component, plane in (("amd-gpu", "controller-manager"), ("kmm", "controller")):
        cluster.operator(component, {"app.kubernetes.io/component": component, "control-plane": plane})
    node = cluster.node("a")
    node["metadata"]["labels"].update(POLICIES["DeviceConfig"]["spec"]["selector"])
    node["status"]["nodeInfo"] |= {"osImage": "Ubuntu 24.04.3 LTS", "kernelVersion": "6.8.0-1030-azure"}
    cluster.node("n", gpu=True)


def domain_cluster(cluster: Cluster) -> None:
    """The controller of compute domains, and a node."""
    cluster.operator("dra-driver-nvidia-gpu", {}, {"dra-driver-nvidia-gpu-component": "controller"})
    cluster.node("a")


OPERATORS: Final = {
    "network": Operator(
        reconcile=network.reconcile,
        usual=network_cluster,
        policy=POLICIES["NicClusterPolicy"],
        only_sections=True,
        driver="mofed-ubuntu24.04-7f47967d-ds",
        nodes=("ib-0", "ib-1", "ib-2"),
    ),
    "gpu": Operator(
        reconcile=gpu.reconcile,
        usual=gpu_cluster,
        policy=POLICIES["ClusterPolicy"],
        has_gpus=True,
        driver="nvidia-driver-daemonset",
        nodes=("gpu-0", "gpu-1"),
    ),
    "amd": Operator(reconcile=amd.reconcile, usual=amd_cluster, policy=POLICIES["DeviceConfig"]),
    "domain": Operator(reconcile=compute_domains.reconcile, usual=domain_cluster, policy=POLICIES["ComputeDomain"]),
}
FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    **{name: partial(outcome, name) for name in OPERATORS},
    "ofed": partial(outcome_of_rollout, "network"),
    "driver": partial(outcome_of_rollout, "gpu"),
}
"""By the first word of a file's name, what gives the outcome of a case."""
