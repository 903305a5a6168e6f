"""A pool's machines one after the other: each is upgraded by AKS, measured with a neighbour, and only then the next.

Progress is visible in the cluster alone: the system of a node, and an annotation of a node that was accepted. So a
command that was killed is started again, and continues.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from aks_infiniband.diagnosis.ownership import is_over, owner_of
from aks_infiniband.validation.reports import lacks
from lightkube.resources.core_v1 import Node, Pod

from aks_infiniband_cli.azure.cluster import ENDED, UPGRADING, Aks, Operation
from aks_infiniband_cli.cluster import operators_in
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.upgrade import hold
from aks_infiniband_cli.upgrade.operations import quieten, wait
from aks_infiniband_cli.upgrade.plan import Target
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.neighbour import measured_with_neighbour, shortfalls_of
from aks_infiniband_cli.validate.nodes import name_of, nodes_of
from aks_infiniband_cli.validate.rendering import Pool
from aks_infiniband_cli.validate.run import Cluster, Say, until

_ACCEPTED: Final = "aks-infiniband/upgraded-to"
"""Annotation of a node that was measured and accepted, with what it has. A reimaged node has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """One pool that is upgraded. each: measure every machine; else the first, and the others follow unmeasured."""

    cluster: Cluster
    aks: Aks
    validation: Deployed
    asked: str
    """The version of Kubernetes for the request to Azure; empty for a node image."""
    target: Target
    each: bool
    ready_seconds: float
    """So long a machine may take until it is as the pool promises."""
    say: Say
    begun: Callable[[], object]
    """Called when Azure has accepted a request: it has other versions from then on."""

    @property
    def pool(self) -> str:
        """Its name."""
        return self.validation.pool

    def nodes(self) -> list[Object]:
        """Its nodes, as they are now."""
        return nodes_of([node.to_dict() for node in self.cluster.client.list(Node)], self.validation)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stopped:
    """An upgrade that went no further. node: the machine that is not as it was accepted."""

    pool: str
    node: str
    shortfalls: Sequence[str]
    held: Sequence[str]
    measured: Pool | None


def upgraded(work: Work) -> Stopped | None:
    """Upgrade a pool; the point at which it stopped, or None if all its machines have the new system.

    Raises CommandError if Azure refuses or fails, or if a person requests a stop: the nodes that are held stay so.
    """
    client, namespace = work.cluster.client, work.validation.namespace
    while True:
        nodes = _all_there(work)
        changed = [node for node in nodes if work.target.reached_by(node)]
        unmeasured = [node for node in changed if _accepted(node) != str(work.target)]
        if unmeasured and (work.each or len(unmeasured) == len(changed)):
            stopped = _judge(work, nodes, unmeasured[0])
            if stopped is not None:
                return stopped
        elif len(changed) == len(nodes):
            hold.release(client, work.pool, namespace)
            _settle(work)
            return None
        elif changed and not work.each:
            note(f"pool {work.pool}: the other {len(nodes) - len(changed)} machines follow")
            hold.release(client, work.pool, namespace)
            wait(_begin(work), f"pool {work.pool}")
        else:
            _one_more(work, nodes, [node for node in nodes if not work.target.reached_by(node)])


def _all_there(work: Work) -> list[Object]:
    """The pool's nodes, once AKS has given back the one that it reimages: its Node is away meanwhile.

    Without the missing machine a command would take the others for all, and have AKS take the next one before it is
    measured.
    """
    count = work.aks.read().pools[work.pool].count

    def look() -> list[Object] | None:
        nodes = work.nodes()
        return nodes if len(nodes) >= count or work.aks.state(work.pool) in ENDED else None

    return until(look)


def _judge(work: Work, nodes: Sequence[Object], node: Object) -> Stopped | None:
    """Measure a machine that has the new system; the point at which it stops, or None if it is accepted."""
    name, last = name_of(node), all(work.target.reached_by(each) for each in nodes)
    quieten(work.aks, work.pool, abort=not last)
    measured, shortfalls = None, _unready(work, name)
    if not shortfalls:
        work.say(f"Pool {work.pool}: measuring {name}")
        measured = measured_with_neighbour(work.cluster, work.validation, name, work.say, by="upgrade")
        shortfalls = shortfalls_of(measured)
    if shortfalls:
        held = hold.held_nodes(work.cluster.client, work.pool, work.validation.namespace)
        return Stopped(pool=work.pool, node=name, shortfalls=shortfalls, held=held, measured=measured)
    done = sum(work.target.reached_by(each) for each in nodes)
    note(f"pool {work.pool}: {name} has {work.target} and is accepted ({done} of {len(nodes)})")
    work.cluster.client.patch(Node, name, {"metadata": {"annotations": {_ACCEPTED: str(work.target)}}})
    return None


def _accepted(node: Object) -> str | None:
    annotations = node["metadata"].get("annotations") or {}
    found = annotations.get(_ACCEPTED)
    return None if found is None else str(found)


def _begin(work: Work) -> Operation:
    _refuse_stopped(work)
    kubernetes = work.target.kubernetes is not None
    begun = work.aks.upgrade_pool(work.pool, work.asked) if kubernetes else work.aks.upgrade_image(work.pool)
    work.begun()
    return begun


def _one_more(work: Work, nodes: Sequence[Object], waiting: Sequence[Object]) -> None:
    """Have AKS upgrade one machine, whichever it drains first, and no other."""
    client = work.cluster.client
    names = {name_of(node) for node in waiting}
    chosen = _let_go(work, names)
    if chosen is None:
        quieten(work.aks, work.pool, abort=True)
        _uncordon(work, waiting)
        work.say(f"Pool {work.pool}: holding {len(waiting)} machines")
        hold.hold(client, work.validation, waiting)
        chosen = []
    operation = _begin(work)
    place = f"{len(nodes) - len(waiting) + 1} of {len(nodes)}"
    work.say(f"Pool {work.pool}: AKS chooses machine {place}")

    def look() -> bool | None:
        _refuse_stopped(work)
        now = {name_of(node): node for node in work.nodes()}
        if not chosen:
            chosen.extend(sorted(name for name in names if name in now and _is_cordoned(now[name]))[:1])
            if chosen:
                note(f"pool {work.pool}: AKS drains and reimages {chosen[0]} ({place})")
                work.say(f"Pool {work.pool}: AKS reimages {chosen[0]}")
                hold.let(client, work.validation, chosen)
        elif chosen[0] in now and work.target.reached_by(now[chosen[0]]):
            return True
        if operation.done() and not any(work.target.reached_by(now[name]) for name in chosen if name in now):
            raise CommandError(f"the upgrade of pool {work.pool} ended: {operation.failure() or 'nothing was changed'}")
        return None

    until(look)
    quieten(work.aks, work.pool, abort=len(waiting) > 1)
    _uncordon(work, [node for node in work.nodes() if name_of(node) in names - set(chosen)])


def _let_go(work: Work, waiting: set[str]) -> list[str] | None:
    """The one machine that a command before has released, if it has; None if it has not sent the request to AKS, or if
    AKS could take more than that one.

    An operation of AKS for a command that is gone is neither ended nor requested again.
    """
    if work.aks.state(work.pool) not in UPGRADING:
        return None
    free = sorted(waiting.difference(hold.held_nodes(work.cluster.client, work.pool, work.validation.namespace)))
    if len(free) > 1:
        return None
    note(f"pool {work.pool}: AKS already carries out the request of an earlier command")
    return free


def _uncordon(work: Work, nodes: Iterable[Object]) -> None:
    """Take the cordon away that AKS has left on machines that it did not reimage: none of them had one before."""
    for node in nodes:
        if _is_cordoned(node):
            work.cluster.client.patch(Node, name_of(node), {"spec": {"unschedulable": None}})


def _is_cordoned(node: Object) -> bool:
    return bool(node["spec"].get("unschedulable"))


def _refuse_stopped(work: Work) -> None:
    if hold.is_stopped(work.cluster.client, work.pool, work.validation.namespace):
        raise CommandError(f"the upgrade of pool {work.pool} was stopped; run the same command to continue")


def _settle(work: Work) -> None:
    """Have a pool whose machines are all upgraded say so: after an aborted request it shows Canceled."""
    quieten(work.aks, work.pool, abort=False)
    if work.aks.state(work.pool) != "Succeeded":
        wait(_begin(work), f"pool {work.pool}")


def _unready(work: Work, name: str) -> list[str]:
    """The lacks of a reimaged machine when its time is over; nothing once it is as its pool promises."""
    client, validation = work.cluster.client, work.validation
    deadline = time.monotonic() + work.ready_seconds
    work.say(f"Pool {work.pool}: waiting for the drivers of {name}")

    def look() -> list[str] | None:
        node = client.get(Node, name).to_dict()
        missing = list(lacks(dict(node), validation.promise))
        return missing if not missing or time.monotonic() > deadline else None

    missing = until(look)
    if not missing:
        return []
    pods = [pod.to_dict() for pod in client.list(Pod, namespace="*", fields={"spec.nodeName": name})]
    info = client.get(Node, name).to_dict()["status"]["nodeInfo"]
    system = f"kernel {info['kernelVersion']}, {info['containerRuntimeVersion']}"
    operators = operators_in(client)
    theirs = [pod for pod in pods if not is_over(pod) and owner_of(pod, operators, validation.namespace) != "another"]
    return [f"{', '.join(missing)} after {work.ready_seconds:.0f} s, with {system}", *_not_running(theirs)]


def _not_running(pods: Sequence[Object]) -> list[str]:
    """The pods that are not ready, and what the kubelet says of them."""
    found = []
    for pod in pods:
        statuses = (pod.get("status") or {}).get("containerStatuses") or []
        for status in statuses:
            waiting = ((status.get("state") or {}).get("waiting") or {}).get("reason")
            if not status.get("ready") and (waiting or status.get("restartCount")):
                metadata, restarts = pod["metadata"], status.get("restartCount") or 0
                name = f"{metadata['namespace']}/{metadata['name']}"
                found.append(f"pod {name}: {waiting or 'not ready'}, {restarts} restarts")
    return found
