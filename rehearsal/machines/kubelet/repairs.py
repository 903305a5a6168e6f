"""Machines that start again: by AKS's auto-repair, after a fault of the run, or by a user's request to Azure.

Source: MicrosoftDocs/azure-aks-docs fb060ab, node-auto-repair.md (2026-07-01). The Node object outlives a reimage, with
every label that it had, and gets another bootID: assumed, as the machine keeps its name and its place in the scale set.
"""

import asyncio
import hashlib
import json
import logging
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from lightkube import codecs
from lightkube.resources.core_v1 import Node
from lightkube.types import PatchType

from rehearsal.faults.checking import FaultsError
from rehearsal.faults.machine_faults import concerning, cure, read
from rehearsal.machines.kubelet.images import Images
from rehearsal.machines.nodes.patches import LOST
from rehearsal.machines.pods.effects import Effects
from rehearsal.machines.pods.running import now
from rehearsal.watch.cluster import Cluster
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

_FAULTS: Final = ("node-not-ready", "node-rebooted", "node-reimaged")
_LOOK_SECONDS: Final = 0.5
_SOURCE: Final = "aks-auto-repair"
_ASKED: Final = "rehearsal.aks-infiniband/boot"
"""Annotation with which the simulated Azure requests a boot, and that of the last one that was carried out."""
_DONE: Final = "rehearsal.aks-infiniband/booted"
_LATENCIES: Final = {"restart": "nodeReboot", "redeploy": "nodeRedeploy"}


@dataclass(kw_only=True)
class Repairs:
    """The repairs of all machines."""

    cluster: Cluster
    effects: Effects
    images: Images
    run_folder: Path
    switch: Callable[[str, bool], None]
    """Switches the pods of a node off (False), or on again (True)."""
    _met: set[tuple[str, str]] = field(default_factory=set)
    """Fault and node, while the file has the fault."""
    _booting: dict[str, str] = field(default_factory=dict)
    """By node, the last boot that Azure has requested and that has begun."""

    async def keep(self) -> None:
        """Carry out the repairs in the file of faults, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                wanted = set(self._wanted())
                self._met &= wanted
                for fault, node in sorted(wanted - self._met):
                    self._met.add((fault, node))
                    tasks.create_task(self._happen(fault, node))
                for node, asked in list(self._asked()):
                    self._booting[node] = asked
                    tasks.create_task(self._start_anew(node, asked))
                await asyncio.sleep(_LOOK_SECONDS)

    def _wanted(self) -> Iterator[tuple[str, str]]:
        try:
            faults = [entry for entry in read(self.run_folder) if entry["fault"] in _FAULTS]
        except FaultsError as error:
            log.error("no node is repaired: %s", error)
            return
        for fault in {entry["fault"] for entry in faults}:
            for _, node in list(self.cluster.of("Node")):
                if concerning(faults, fault, node) is not None:
                    yield fault, node

    async def _happen(self, fault: str, node: str) -> None:
        self._silence(node)
        if fault == "node-not-ready":
            while (fault, node) in self._met:
                await asyncio.sleep(_LOOK_SECONDS)
            self._answer(node)
            return
        await self._sleep("nodeRepair")
        self.switch(node, False)
        try:
            await self._step(node, "Reboot")
            if fault == "node-reimaged":
                await self._step(node, "Reimage")
                self.images.forget(node)
                self.effects.reimage(node)
            self.effects.reboot(node)
            await self._boot(node)
        finally:
            self._answer(node)
            self.switch(node, True)

    def _asked(self) -> Iterator[tuple[str, str]]:
        """The nodes that Azure starts again, and the action."""
        for (_, node), document in list(self.cluster.of("Node").items()):
            annotations = document["metadata"].get("annotations") or {}
            asked = annotations.get(_ASKED)
            if asked and asked not in (annotations.get(_DONE), self._booting.get(node)):
                yield node, asked

    async def _start_anew(self, node: str, asked: str) -> None:
        """Carry out a user's request to Azure."""
        boot, noted = json.loads(asked), {"metadata": {"annotations": {_DONE: asked}}}
        await self.start_anew(node, boot["action"], new_disk=boot["disk"] == "new", noted=noted)

    async def start_anew(
        self, node: str, action: str, *, new_disk: bool = False, noted: dict[str, Any] | None = None
    ) -> None:
        """Restart a machine, or have it redeployed under its name, without the faults of the host.

        noted: changes of the Node object, in addition to its status.
        """
        self._silence(node)
        self.switch(node, False)
        try:
            await self._sleep(_LATENCIES[action])
            for entry in cure(self.run_folder, node, action):
                log.warning("node %s: the %s has cured %s", node, action, entry["fault"])
            if new_disk:
                self.images.forget(node)
                self.effects.reimage(node)
            self.effects.reboot(node)
            await self._boot(node, noted)
        finally:
            self._answer(node)
            self.switch(node, True)

    def _silence(self, node: str) -> None:
        self.effects.broken[node] = LOST
        self.cluster.touch()

    def _answer(self, node: str) -> None:
        if self.effects.broken.get(node) == LOST:
            del self.effects.broken[node]
        self.cluster.touch()

    async def _step(self, node: str, step: str) -> None:
        action = step.lower()
        why = "due to NotReady status persisting for more than five minutes."
        await self._tell(node, f"Node{step}Start", f"Node auto-repair is initiating a {action} action {why}")
        await self._sleep(f"node{step}")
        await self._tell(node, f"Node{step}End", f"{step} action from node auto-repair is completed.")

    async def _boot(self, node: str, noted: dict[str, Any] | None = None) -> None:
        """Have another boot ID. noted: the changes of the Node object outside its status."""
        if noted is not None:
            await insist(
                lambda: self.cluster.client.patch(Node, node, noted, patch_type=PatchType.MERGE),
                what=f"annotations of node {node}",
            )
        booted = {"status": {"nodeInfo": {"bootID": str(uuid.uuid4())}}}
        await insist(
            lambda: self.cluster.client.patch(Node.Status, node, booted, patch_type=PatchType.MERGE),
            what=f"boot of node {node}",
        )

    async def _tell(self, node: str, reason: str, message: str) -> None:
        moment, about = now(), self._about(node)
        digest = hashlib.sha256(f"{node}/{reason}/{moment}".encode()).hexdigest()[:16]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{node}.{digest}", "namespace": "default"},
            "type": "Normal",
            "reason": reason,
            "message": message,
            "involvedObject": about,
            "source": {"component": _SOURCE},
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "count": 1,
        }
        await insist(lambda: self.cluster.client.create(codecs.from_dict(event)), what=f"event of node {node}")
        log.warning("node %s: %s", node, message)

    def _about(self, node: str) -> dict[str, Any]:
        document = self.cluster.of("Node").get(("", node)) or {"metadata": {}}
        return {"apiVersion": "v1", "kind": "Node", "name": node, "uid": document["metadata"].get("uid", "")}

    async def _sleep(self, latency: str) -> None:
        await asyncio.sleep(self.images.latencies.seconds(latency))
