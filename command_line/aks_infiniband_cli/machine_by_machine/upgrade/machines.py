"""A pool's machines one after the other: each is upgraded by AKS, measured with a neighbour, and only then the next.

Progress is visible in the cluster alone: the system of a node, and an annotation of a node that was accepted. So a
command that was killed is started again, and continues.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from aks_infiniband.diagnosis.holds import holds_of
from aks_infiniband.diagnosis.ownership import is_over, owner_of
from aks_infiniband.validation.reports import lacks
from lightkube.resources.core_v1 import Node, Pod

from aks_infiniband_cli.azure.cluster import Aks, Operation
from aks_infiniband_cli.cluster import operators_in
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.machine_by_machine.loop import Progress, carry_through
from aks_infiniband_cli.machine_by_machine.measuring import measured_with_neighbour, shortfalls_of
from aks_infiniband_cli.machine_by_machine.upgrade.decision import Act, Machine, Seen, Step, next_step
from aks_infiniband_cli.machine_by_machine.upgrade.hold import Holds, is_stopped
from aks_infiniband_cli.machine_by_machine.upgrade.operations import quieten
from aks_infiniband_cli.machine_by_machine.upgrade.plan import Target
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of, nodes_of
from aks_infiniband_cli.validate.rendering import Pool
from aks_infiniband_cli.validate.run import Cluster, Say, until

_ACCEPTED: Final = "aks-infiniband/upgraded-to"
"""Annotation of a node that was measured and accepted, with what it has. A reimaged node has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """An upgrade that went no further. node: the machine that is not as it was accepted."""

    pool: str
    node: str
    shortfalls: Sequence[str]
    held: Sequence[str]
    measured: Pool | None


@dataclass(kw_only=True)
class PoolUpgrade:
    """The upgrade of one pool. each: measure every machine; else the first, and the others follow unmeasured.
    ready_seconds: so long a machine may take until it is as the pool promises. request: sends the request to Azure.
    """

    cluster: Cluster
    aks: Aks
    validation: Deployed
    target: Target
    each: bool
    ready_seconds: float
    request: Callable[[], Operation]
    say: Say
    stopped: Stopped | None = None
    _operation: Operation | None = None
    _unready_since: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.pool, client = self.validation.pool, self.cluster.client
        self._holds = Holds(client=client, pool=self.pool, namespace=self.validation.namespace)
        self._progress = Progress(self.say)

    def carried_out(self) -> Stopped | None:
        """The point at which it stopped; None if all machines have the new system.

        Raises CommandError if Azure refuses or fails, or if a person requests a stop: the nodes that are held stay so.
        """
        carry_through(self)
        return self.stopped

    def observe(self) -> tuple[Step, Seen]:
        """The machines, the holds and Azure's pool. The request comes first: what it has brought is seen below."""
        ended = self._operation is not None and self._operation.done()
        failure = (self._operation.failure() if self._operation and ended else None) or ""
        there = self.aks.read().pools[self.pool]
        budget, held = self._holds.budget(), self._holds.nodes()
        nodes = nodes_of([node.to_dict() for node in self.cluster.client.list(Node)], self.validation)
        machines = [self._machine(node, held) for node in sorted(nodes, key=name_of)]
        seen = Seen(
            machines=machines,
            count=there.count,
            state=there.state,
            holds=budget is not None or bool(held),
            stopped=is_stopped(budget),
            request="none" if self._operation is None else "ended" if ended else "running",
            failure=failure,
            shortfalls=self.stopped.shortfalls if self.stopped else (),
        )
        return next_step(seen, each=self.each), seen

    def _machine(self, node: Object, held: Sequence[str]) -> Machine:
        name, changed = name_of(node), self.target.reached_by(node)
        accepted = (node["metadata"].get("annotations") or {}).get(_ACCEPTED) == str(self.target)
        missing = list(lacks(dict(node), self.validation.promise)) if changed and not accepted else []
        now = time.monotonic()
        since = self._unready_since.setdefault(name, now) if missing else now
        cordoned = bool(node["spec"].get("unschedulable"))
        return Machine(
            name=name,
            changed=changed,
            accepted=accepted,
            cordoned=cordoned,
            kept_by=", ".join(hold.author for hold in holds_of(node) if hold.cordons) if cordoned else "",
            held=name in held,
            lacks=missing,
            late=now - since > self.ready_seconds,
        )

    def wait(self, why: str) -> None:
        """Report the cause."""
        self._progress.report(f"pool {self.pool}: {why}")

    def carry_out(self, step: Step, seen: Seen) -> bool:
        """Do what a step says, unless a person has requested a stop since the look, which takes a while."""
        if step.act in _ACTS:
            if not is_stopped(self._holds.budget()):
                _ACTS[step.act](self, step, seen)
        elif step.act == "fail":
            raise CommandError(f"the upgrade of pool {self.pool} {step.why}")
        return step.act != "end"

    def _abort(self, _step: Step, _seen: Seen) -> None:
        quieten(self.aks, self.pool, abort=True)
        self._operation = None

    def _uncordon(self, step: Step, _seen: Seen) -> None:
        for name in step.nodes:
            self.cluster.client.patch(Node, name, {"spec": {"unschedulable": None}})

    def _hold(self, step: Step, seen: Seen) -> None:
        self.say(f"Pool {self.pool}: holding {len(step.nodes)} machines")
        self._holds.hold(self.validation, step.nodes)
        if not is_stopped(self._holds.budget()):  # or else the next look ends it
            self._request(step, seen)

    def _request(self, _step: Step, _seen: Seen) -> None:
        self._operation = self.request()

    def _let_go(self, step: Step, seen: Seen) -> None:
        place = f"{sum(machine.changed for machine in seen.machines) + 1} of {len(seen.machines)}"
        note(f"pool {self.pool}: AKS drains and reimages {step.nodes[0]} ({place})")
        until(lambda: self._holds.let_go(step.nodes))  # AKS waits for it, so a silent API server is awaited

    def _measure(self, step: Step, seen: Seen) -> None:
        (name,), self._operation = step.nodes, None
        self.say(f"Pool {self.pool}: measuring {name}")
        measured = measured_with_neighbour(self.cluster, self.validation, name, self.say, by="upgrade")
        if shortfalls := shortfalls_of(measured):
            return self._stop(name, shortfalls, measured)
        done = sum(machine.changed for machine in seen.machines)
        note(f"pool {self.pool}: {name} has {self.target} and is accepted ({done} of {len(seen.machines)})")
        self.cluster.client.patch(Node, name, {"metadata": {"annotations": {_ACCEPTED: str(self.target)}}})
        return None

    def _fall_short(self, step: Step, _seen: Seen) -> None:
        """The machine is not as its pool promises: its system, and the pods that do not run there."""
        (name,), client = step.nodes, self.cluster.client
        pods = [pod.to_dict() for pod in client.list(Pod, namespace="*", fields={"spec.nodeName": name})]
        info = client.get(Node, name).to_dict()["status"]["nodeInfo"]
        system = f"kernel {info['kernelVersion']}, {info['containerRuntimeVersion']}"
        operators, namespace = operators_in(client), self.validation.namespace
        theirs = [pod for pod in pods if not is_over(pod) and owner_of(pod, operators, namespace) != "another"]
        first = f"{step.why} after {self.ready_seconds:.0f} s, with {system}"
        self._stop(name, [first, *_not_running(theirs)], None)

    def _stop(self, node: str, shortfalls: Sequence[str], measured: Pool | None) -> None:
        held = self._holds.nodes()
        self.stopped = Stopped(pool=self.pool, node=node, shortfalls=shortfalls, held=held, measured=measured)

    def _release(self, step: Step, _seen: Seen) -> None:
        if step.why:
            note(f"pool {self.pool}: {step.why}")
        self._holds.release()


_ACTS: Final[Mapping[Act, Callable[[PoolUpgrade, Step, Seen], None]]] = {
    "abort": PoolUpgrade._abort,
    "uncordon": PoolUpgrade._uncordon,
    "hold": PoolUpgrade._hold,
    "let go": PoolUpgrade._let_go,
    "measure": PoolUpgrade._measure,
    "fall short": PoolUpgrade._fall_short,
    "release": PoolUpgrade._release,
    "request": PoolUpgrade._request,
}


def _not_running(pods: Sequence[Object]) -> list[str]:
    """The pods that are not ready, and what the kubelet says of them."""
    lines = []
    for pod in pods:
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        for status in statuses:
            waiting = ((status.get("state") or {}).get("waiting") or {}).get("reason")
            if not status.get("ready") and (waiting or status.get("restartCount")):
                metadata, restarts = pod["metadata"], status.get("restartCount") or 0
                name = f"{metadata['namespace']}/{metadata['name']}"
                lines.append(f"pod {name}: {waiting or 'not ready'}, {restarts} restarts")
    return lines
