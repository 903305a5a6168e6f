"""Attaches a pod's second networks before any container starts, or says why they cannot be."""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lightkube.resources.core_v1 import Pod
from lightkube.types import PatchType

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.network.address_pools import free_address_of
from rehearsal.machines.network.networks import (
    NETWORKS_ANNOTATION,
    STATUS_ANNOTATION,
    Attachment,
    AttachmentError,
    Selection,
    configuration,
    network_status,
    parent_device,
    selections,
)
from rehearsal.machines.pods.effects import Effects
from rehearsal.machines.pods.running import RunningPod
from rehearsal.watch.cluster import Cluster
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 0.5
"""A kubelet tries again within seconds. Here it also tries again as soon as something changes."""
_PLUGINS: Final = "/opt/cni/bin"


@dataclass(kw_only=True)
class Sandboxes:
    """The second networks of all pods on simulated machines."""

    cluster: Cluster
    effects: Effects
    _taken: dict[tuple[tuple[str, str], str], str] = field(default_factory=dict)
    """Pool and address -> UID of the pod that has it."""
    _attachments: dict[str, list[Attachment]] = field(default_factory=dict)

    _said: dict[str, str] = field(default_factory=dict)
    """UID of a pod -> what its last event says."""

    async def attach(self, pod: RunningPod, machine: Machine) -> list[Attachment]:
        """Attach a pod to its requested networks; waits, and says why in events, while that cannot be.

        Without Multus on its machine the annotation does nothing: the pod starts with its ordinary network alone.
        """
        if NETWORKS_ANNOTATION not in (pod.document["metadata"].get("annotations") or {}):
            return []
        if not self.effects.holds(machine.name, "multus"):
            log.warning("pod %s/%s: %s lacks Multus; no second network", pod.namespace, pod.name, machine.name)
            return []
        while True:
            version = self.cluster.version
            try:
                made = self._made(pod, machine)
            except AttachmentError as error:
                self.release(pod.uid)
                await self._complain(pod, str(error))
                await self._changed_since(version)
            else:
                self._attachments[pod.uid] = made
                await pod.report()  # gives the pod its ordinary address
                await self._announce(pod, made)
                return made

    def of(self, uid: str) -> list[Attachment]:
        """The networks that a pod is attached to."""
        return self._attachments.get(uid, [])

    def release(self, uid: str) -> None:
        """The pod gives its addresses back."""
        for key in [key for key, holder in self._taken.items() if holder == uid]:
            del self._taken[key]
        self._attachments.pop(uid, None)

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        self.release(uid)
        self._said.pop(uid, None)

    def remember(self, pod: Mapping[str, Any]) -> None:
        """Take note of the addresses of a pod that was attached before this process was started."""
        text = (pod["metadata"].get("annotations") or {}).get(STATUS_ANNOTATION)
        addresses = {
            address
            for attachment in json.loads(text or "[]")
            if not attachment.get("default")
            for address in attachment["ips"]
        }
        for key in self.cluster.of("IPPool"):
            self._taken.update({(key, address): str(pod["metadata"]["uid"]) for address in addresses})

    def _made(self, pod: RunningPod, machine: Machine) -> list[Attachment]:
        return [self._attachment(pod, machine, selection) for selection in selections(pod.document)]

    def _attachment(self, pod: RunningPod, machine: Machine, selection: Selection) -> Attachment:
        config = configuration(selection, self.cluster.of("NetworkAttachmentDefinition"))
        plugin = config.get("type")
        if plugin != "ipoib" or not self.effects.holds(machine.name, "ipoibCni"):
            raise AttachmentError(f'failed to find plugin "{plugin}" in path [{_PLUGINS}]')
        device = parent_device(config, machine.hardware, self.effects.modules(machine))
        ipam = config.get("ipam") or {}
        if ipam.get("type") != "nv-ipam" or not self.effects.holds(machine.name, "addressAgent"):
            raise AttachmentError(f'failed to find plugin "{ipam.get("type")}" in path [{_PLUGINS}]')
        key, address = self._address(ipam.get("poolName", ""), machine.name)
        self._taken[key, address] = pod.uid
        return Attachment(selection=selection, device=device, pool=key, address=address)

    def _address(self, name: str, node: str) -> tuple[tuple[str, str], str]:
        agents = set(self.effects.pods(node, "addressAgent"))
        # An agent knows only the pools of the namespace that it runs in.
        keys = {key for key, pod in self.cluster.of("Pod").items() if pod["metadata"]["uid"] in agents}
        pools = [(namespace, name) for namespace, _ in keys if (namespace, name) in self.cluster.of("IPPool")]
        if not pools:
            raise AttachmentError(f'nv-ipam: configuration for pool "{name}" not found; there is no such IPPool')
        key, pool = pools[0], self.cluster.of("IPPool")[pools[0]]
        blocks = (pool.get("status") or {}).get("allocations") or []
        if not any(block["nodeName"] == node for block in blocks):
            raise AttachmentError(f'nv-ipam: pool "{name}" has no block for node {node}')
        address = free_address_of(pool, node, {taken for taken_from, taken in self._taken if taken_from == key})
        if address is None:
            raise AttachmentError(f'nv-ipam: no free addresses in the pool "{name}": the block of {node} is used up')
        return key, address

    async def _announce(self, pod: RunningPod, made: list[Attachment]) -> None:
        annotation = {STATUS_ANNOTATION: network_status(pod.ip, made)}
        patched = await insist(
            lambda: self.cluster.client.patch(
                Pod,
                pod.name,
                {"metadata": {"uid": pod.uid, "annotations": annotation}},
                namespace=pod.namespace,
                patch_type=PatchType.MERGE,
            ),
            what=f"networks of pod {pod.namespace}/{pod.name}",
        )
        if patched is not None:
            pod.document = patched.to_dict()

    async def _changed_since(self, version: int) -> None:
        try:
            await asyncio.wait_for(self.cluster.changed_since(version), _RETRY_SECONDS)
        except TimeoutError:
            return

    async def _complain(self, pod: RunningPod, reason: str) -> None:
        """Say once in an event why the sandbox cannot be made, in the kubelet's words."""
        message = (
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox: "
            'plugin type="multus" name="multus-cni-network" failed (add): '
            f"Multus: [{pod.namespace}/{pod.name}/{pod.uid}]: {reason}"
        )
        if self._said.get(pod.uid) == reason:
            return
        self._said[pod.uid] = reason
        log.warning("pod %s/%s: %s", pod.namespace, pod.name, reason)
        await pod.tell("FailedCreatePodSandBox", message, warning=True)
