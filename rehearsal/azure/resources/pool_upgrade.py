"""AKS's change of a running pool to the requested state, above all to another system: machines are drained and reimaged
in turn.

Sources: MicrosoftDocs/azure-aks-docs fb060ab (2026-08-21): upgrade-aks-node-pools-rolling.md (order of the steps,
surge, soak before the reimage, the drain's time limit, that any later PUT continues a stopped upgrade),
tutorial-kubernetes-upgrade-cluster.md (events; that the node is deleted from the API server),
manage-abort-operations.md. The treatment of a blocked node is that of azure-mgmt-containerservice,
UndrainableNodeBehavior Schedule: it is schedulable again and has its old system. That an aborted upgrade finishes the
machine that it reimages is assumed.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.cluster_api import Blocked
from rehearsal.azure.errors import AzureError, refused
from rehearsal.azure.machines import labels, node_name
from rehearsal.azure.naming import last_part
from rehearsal.azure.node_parts import taints
from rehearsal.azure.resources import pool_defaults, pool_machines
from rehearsal.azure.store import Record
from rehearsal.azure.subscription import version_key

_LOG: Final = logging.getLogger(__name__)

Machine = dict[str, Any]
_DRAIN_MINUTES: Final = 30
"""Time for which AKS tries to drain a node if drainTimeoutInMinutes is not given."""


def pending(record: Record) -> list[Machine]:
    """The machines of a pool that have another system than the pool."""
    wanted = pool_defaults.system_of(record.outputs)
    return [machine for machine in record.details.get("machines", []) if machine.get("system", wanted) != wanted]


def state(record: Record) -> str:
    """The provisioning state of a pool while it is changed."""
    waiting = pending(record)
    if any(machine["system"][1] != record.outputs["currentOrchestratorVersion"] for machine in waiting):
        return "Upgrading"
    return "UpgradingNodeImageVersion" if waiting else "Updating"


def surge_of(pool: Mapping[str, Any], waiting: int) -> int:
    """Machines that an upgrade adds for its time. waiting: how many have another system."""
    settings = pool.get("upgradeSettings") or {}
    return min(_amount(settings.get("maxSurge", "10%"), int(pool["count"])), waiting)


def converge(cloud: Cloud, record: Record, *, end: float) -> None:
    """Make a running pool what its record says: labels, taints, number of machines, system."""
    gone = dict.fromkeys(record.details.get("labels", {}))
    for machine in record.details["machines"]:
        pool = pool_machines.facts(cloud, record, machine)
        wanted = {**gone, **labels(pool, machine["instance"])}
        pool_taints = taints(record.outputs.get("nodeTaints") or [])
        cloud.cluster_api(record.id).relabel(node_name(pool, machine["instance"]), wanted, pool_taints)
    with cloud.clock.changed:
        record.details["labels"] = dict(record.outputs.get("nodeLabels") or {})
        cloud.store.save()
    lasting = [machine for machine in record.details["machines"] if not machine.get("surge")]
    surplus = lasting[int(record.outputs["count"]) :]
    for drained in (False, True):
        if going := [machine for machine in surplus if bool(machine.get("deleted")) is not drained]:
            pool_machines.remove(cloud, record, going, drained=drained)
    upgrade(cloud, record)
    pool_machines.grow(cloud, record, end=end)


def upgrade(cloud: Cloud, record: Record) -> None:
    """Give every machine that lacks it the system of its pool.

    Raises AzureError if a node cannot be drained in time, or if it was aborted: the others keep theirs.
    """
    waiting = pending(record)
    if not waiting:
        return
    had, used = record.details.get("before", []), record.details.get("usedAt", [])
    before = waiting[0]["system"]
    if pool_defaults.system_of(record.outputs) in had:  # it goes back
        record.details |= {"before": [], "usedAt": []}
    elif before not in had[-1:]:  # it does not continue one that was stopped
        record.details |= {"before": [*had, before], "usedAt": [*used, time.time()]}
    surge = surge_of(record.outputs, len(waiting))
    settings = record.outputs.get("upgradeSettings") or {}
    unavailable = _amount(settings.get("maxUnavailable", "0"), int(record.outputs["count"]))
    if surge:
        _add(cloud, record, surge)
    try:
        at_once = max(1, surge or unavailable)
        for first in range(0, len(waiting), at_once):
            _refuse_aborted(record)
            _replace(cloud, record, waiting[first : first + at_once])
    finally:
        spare = [machine for machine in record.details["machines"] if machine.get("surge")]
        if spare:
            pool_machines.remove(cloud, record, spare)
    _LOG.info("pool %s has a new system: %s", last_part(record.id), record.outputs["nodeImageVersion"])


def _amount(given: Any, count: int) -> int:
    """A number of machines, or a percentage, rounded up."""
    text = str(given)
    return -(-int(text[:-1]) * count // 100) if text.endswith("%") else int(text)


def _add(cloud: Cloud, record: Record, number: int) -> None:
    there = sum(1 for machine in record.details["machines"] if machine.get("surge"))
    for _ in range(number - there):
        machine = pool_machines.join(cloud, record, surge=True)
        name = node_name(pool_machines.facts(cloud, record), machine["instance"])
        pool = last_part(record.id)
        _tell(cloud, record, name, "Surge", f"Created a surge node [{name} {pool}] for agentpool {pool}")


def _replace(cloud: Cloud, record: Record, some: Sequence[Machine]) -> None:
    """Drain machines, then give each its new system."""
    names = [node_name(pool_machines.facts(cloud, record), machine["instance"]) for machine in some]
    api, settings = cloud.cluster_api(record.id), record.outputs.get("upgradeSettings") or {}
    for name in names:
        api.cordon(name)
        _tell(cloud, record, name, "Drain", f"Draining node: {name}")
    try:
        for name in names:
            _drain(cloud, record, name, int(settings.get("drainTimeoutInMinutes") or _DRAIN_MINUTES))
        _soak(cloud, record, names, int(settings.get("nodeSoakDurationInMinutes") or 0))
    except AzureError:
        for name in names:
            api.uncordon(name)
        raise
    for machine, name in zip(some, names, strict=True):
        _tell(cloud, record, name, "Upgrade", f"Deleting node {name} from API server")
        api.remove(name)
        cloud.clock.pause(cloud.clock.latencies.seconds("nodeReimage"))
        with cloud.clock.changed:
            machine["system"] = pool_defaults.system_of(record.outputs)
            cloud.store.save()
        api.join(pool_machines.document(cloud, record, machine))
        _tell(cloud, record, name, "Upgrade", f"Successfully upgraded node: {name}")
        _LOG.info("%s has a new system: %s", name, record.outputs["nodeImageVersion"])


def _drain(cloud: Cloud, record: Record, name: str, minutes: int) -> None:
    def aborted() -> bool:
        return record.operation is not None and record.operation.aborting

    api, latencies = cloud.cluster_api(record.id), cloud.clock.latencies
    blocked = api.drain(name, patience=latencies.of(minutes * 60), pause=latencies.seconds("resource"), ended=aborted)
    _refuse_aborted(record)
    if blocked:
        raise _undrainable(name, blocked)


def _soak(cloud: Cloud, record: Record, names: Sequence[str], minutes: int) -> None:
    for name in names if minutes else ():
        _tell(cloud, record, name, "Upgrade", f"Soak duration {minutes}m0s after draining node: {name}")
    cloud.clock.pause(cloud.clock.latencies.of(minutes * 60))
    _refuse_aborted(record)


def _tell(cloud: Cloud, record: Record, name: str, reason: str, message: str) -> None:
    cloud.cluster_api(record.id).tell(name, reason, message)


def _refuse_aborted(record: Record) -> None:
    """The words are assumed."""
    if record.operation is not None and record.operation.aborting:
        raise refused("aborted", name=last_part(record.id))


def _undrainable(name: str, blocked: Blocked) -> AzureError:
    """Recorded: cloudnative-pg/cloudnative-pg issue 7346, 2025-04-14."""
    pod, budget = blocked
    return refused("node-cannot-be-drained", name=name, pod=pod, budget=budget)


def require_known(pool: Mapping[str, Any], record: Record, *, named: str | None) -> None:
    """Refuse a Kubernetes or a node image that is older, or that a user names, unless the pool had both before.

    Sources: azure-aks-docs fb060ab, roll-back-node-pool-version.md; azure-mgmt-containerservice, nodeImageVersion of
    an agent pool. The words about a node image are those of the first page, read 2026-11-28; the code is assumed.
    """
    wanted, there = pool_defaults.system_of(pool), pool_defaults.system_of(record.outputs)
    if wanted == there or (named and wanted in record.details.get("before", [])):
        return
    if named:
        raise refused("no-such-node-image", named=named, current=there[0])
    if version_key(wanted[1]) < version_key(there[1]):
        raise refused("pool-goes-back", name=pool["name"], running=there[1], target=wanted[1])
