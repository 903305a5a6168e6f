"""Maintenance that Azure announces: a node says so as AKS's node problem detector does, until it is over or cancelled.

The conditions, and the words of their messages, are recorded (maksim-paskal/aks-node-termination-handler, issue 98,
2025-02-26; Azure/AKS issue 2062; a node without an event: tests/field_recordings/nodes.yaml). AKS's node auto-drain
cordons and drains a node before a redeployment, and does nothing before a reboot or a freeze (learn.microsoft.com,
azure/aks/node-auto-drain, read 2026-11-28). That it takes its cordon back afterwards is assumed.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any, Final

from lightkube import ApiError
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node, Pod
from lightkube.types import PatchType

from rehearsal.faults.checking import FaultsError
from rehearsal.faults.machine_faults import concerning, read
from rehearsal.machines.pods.running import now
from rehearsal.machines.pods.status import is_finished
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

AUTO_DRAIN: Final = "remediator.kubernetes.azure.com/unschedulable"
"""Taint of AKS's node auto-drain."""
FAULT: Final = "maintenance"
MINUTES: Final = 15
"""Between the announcement and the event, if the fault does not say: what Azure promises at least for a freeze or a
reboot (Azure, "Scheduled Events for Linux VMs")."""
_SHARED: Final = "VMEventScheduled"
_ACTIONS: Final = {"Reboot": "restart", "Redeploy": "redeploy"}
"""Actions on the machine, by event. A freeze does nothing that its pods notice."""
_LOOK_SECONDS: Final = 0.5


@dataclass(kw_only=True, slots=True)
class _Announced:
    event: str
    minutes: float
    at: float
    """When it happens, in seconds since 1970: the rehearsal's clock is faster than that of the announcement."""
    is_over: bool = False


@dataclass(kw_only=True)
class Announcements:
    """The announcements of all machines. start_anew: restarts (restart) or moves (redeploy) a machine."""

    cluster: Cluster
    run_folder: Path
    latencies: Latencies
    start_anew: Callable[[str, str], Awaitable[None]]
    _known: dict[str, _Announced] = field(default_factory=dict)
    """By node, while the file has the fault."""

    async def keep(self) -> None:
        """Announce, postpone, cancel and carry out what the file of faults says, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                for node, entry in self._entries():
                    await self._meet(node, entry, tasks)
                await asyncio.sleep(_LOOK_SECONDS)

    def _entries(self) -> list[tuple[str, dict[str, Any] | None]]:
        try:
            faults = [entry for entry in read(self.run_folder) if entry["fault"] == FAULT]
        except FaultsError as error:
            log.error("no maintenance is announced: %s", error)
            return []
        if not faults and not self._known:
            return []
        return [(node, concerning(faults, FAULT, node)) for _, node in list(self.cluster.of("Node"))]

    async def _meet(self, node: str, entry: dict[str, Any] | None, tasks: asyncio.TaskGroup) -> None:
        known = self._known.get(node)
        if entry is None:
            if known is not None:
                del self._known[node]
                if not known.is_over:
                    await self._end(node, known, "cancelled")
            return
        wanted = (entry["event"], float(entry.get("minutes", MINUTES)))
        if known is None or (known.event, known.minutes) != wanted:
            at = time.time() + self.latencies.of(wanted[1] * 60)
            self._known[node] = _Announced(event=wanted[0], minutes=wanted[1], at=at)
            await self._announce(node, self._known[node])
        elif not known.is_over and time.time() >= known.at:
            known.is_over = True
            tasks.create_task(self._carry_out(node, known))

    async def _announce(self, node: str, known: _Announced) -> None:
        message = (
            f"{known.event} Scheduled: {formatdate(known.at, usegmt=True)}. DurationInSeconds: -1.  For more "
            "information, see https://aka.ms/aks/scheduledevents."
        )
        types = (_SHARED, f"{known.event}Scheduled")
        await self._say(node, [(kind, "True", kind, message) for kind in types])
        log.warning("node %s: %s", node, message)
        if known.event == "Redeploy":
            await self._drain(node)

    async def _carry_out(self, node: str, known: _Announced) -> None:
        if action := _ACTIONS.get(known.event):
            await self.start_anew(node, action)
        await self._end(node, known, "over")

    async def _end(self, node: str, known: _Announced, how: str) -> None:
        without = "VM has no scheduled event"
        await self._say(node, [(kind, "False", f"No{kind}", without) for kind in (_SHARED, f"{known.event}Scheduled")])
        if known.event == "Redeploy":
            await self._hold(node, held=False)
        log.warning("node %s: its %s is %s", node, known.event.lower(), how)

    async def _say(self, node: str, said: list[tuple[str, str, str, str]]) -> None:
        moment = now()
        conditions = [
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": message,
                "lastHeartbeatTime": moment,
                "lastTransitionTime": moment,
            }
            for kind, status, reason, message in said
        ]
        patch = {"status": {"conditions": conditions}}
        await insist(
            lambda: self.cluster.client.patch(Node.Status, node, patch, patch_type=PatchType.STRATEGIC),
            what=f"conditions of node {node}",
        )

    async def _drain(self, node: str) -> None:
        """As AKS's node auto-drain does it: cordon, taint, and evict what no DaemonSet has made."""
        await self._hold(node, held=True)
        for (namespace, name), pod in list(self.cluster.of("Pod").items()):
            owners = pod["metadata"].get("ownerReferences") or []
            on_it = pod["spec"].get("nodeName") == node and not is_finished(pod)
            if not on_it or any(owner["kind"] == "DaemonSet" for owner in owners):
                continue
            eviction = Pod.Eviction(metadata=ObjectMeta(name=name, namespace=namespace))
            try:
                await self.cluster.client.create(eviction, name=name, namespace=namespace)
            except ApiError as error:  # a disruption budget keeps it, or it is gone
                log.info("pod %s/%s is not evicted: %s", namespace, name, error)

    async def _hold(self, node: str, *, held: bool) -> None:
        document = self.cluster.of("Node").get(("", node)) or {}
        taints = [taint for taint in document.get("spec", {}).get("taints") or [] if taint["key"] != AUTO_DRAIN]
        ours = [{"key": AUTO_DRAIN, "effect": "NoSchedule"}] if held else []
        spec = {"unschedulable": held or None, "taints": [*taints, *ours] or None}
        await insist(
            lambda: self.cluster.client.patch(Node, node, {"spec": spec}, patch_type=PatchType.MERGE),
            what=f"the hold of node {node}",
        )
