"""The objects of NVIDIA's DRA driver for a machine: the slice of its channel and daemon, and its daemon's entry in a
clique.

As kubernetes-sigs/dra-driver-nvidia-gpu 9593204 (2026-08-07) does it: cmd/compute-domain-kubelet-plugin, which
publishes only channel 0, and cmd/compute-domain-daemon.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from lightkube.types import PatchType

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.pods.status import is_ready
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.kinds import RESOURCES
from rehearsal.watch.requests import insist

DRIVER: Final = "compute-domain.nvidia.com"
LABEL: Final = "resource.nvidia.com/computeDomain"
"""Label of nodes and of daemon pods: the UID of a ComputeDomain."""
_CLIQUE: Final = "ComputeDomainClique"


def slice_of(node: Mapping[str, Any], machine: Machine) -> Document:
    """The ResourceSlice of a machine; it goes with its node."""
    owner = {
        "apiVersion": "v1",
        "kind": "Node",
        "name": machine.name,
        "uid": node["metadata"]["uid"],
        "controller": True,
    }
    devices = [
        {"name": f"{kind}-0", "attributes": {"type": {"string": kind}, "id": {"int": 0}}}
        for kind in ("channel", "daemon")
    ]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{machine.name}-{DRIVER}", "ownerReferences": [owner]},
        "spec": {
            "driver": DRIVER,
            "nodeName": machine.name,
            "pool": {"name": machine.name, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def entry_of(node: str, cliques: Iterable[Mapping[str, Any]], uid: str) -> Mapping[str, Any] | None:
    """The entry of a node's daemon for a ComputeDomain."""
    return next(
        (
            daemon
            for clique in cliques
            if (clique["metadata"].get("labels") or {}).get(LABEL) == uid
            for daemon in clique.get("daemons") or []
            if daemon["nodeName"] == node
        ),
        None,
    )


@dataclass(frozen=True)
class Daemons:
    """The entries of all machines' daemons."""

    cluster: Cluster

    async def keep(self, machine: Machine, pods: Iterable[Document]) -> None:
        """Enter each daemon pod of a machine that has an address, and take out those that are gone. pods: its own.

        A daemon has its clique from the kubelet plugin, which has read it at its own start (CLIQUE_ID in
        cmd/compute-domain-kubelet-plugin/computedomain.go; 024a2c1 reads it again every ten minutes). So a node that
        the fabric lets go later stays entered.
        """
        fabric = machine.hardware.nvlink
        if fabric is None:
            return
        there = {pod["metadata"]["labels"][LABEL]: pod for pod in pods if _is_daemon(pod)}
        for uid, pod in there.items():
            await self._enter(machine.name, uid, fabric.clique, pod)
        for clique in list(self.cluster.of(_CLIQUE).values()):
            uid = (clique["metadata"].get("labels") or {}).get(LABEL)
            daemons = clique.get("daemons") or []
            if uid not in there and any(daemon["nodeName"] == machine.name for daemon in daemons):
                left = [daemon for daemon in daemons if daemon["nodeName"] != machine.name]
                await self._write(clique["metadata"], left)

    async def _enter(self, node: str, uid: str, clique_id: str, pod: Document) -> None:
        namespace, name = pod["metadata"]["namespace"], f"{uid}.{clique_id}"
        clique = self.cluster.of(_CLIQUE).get((namespace, name))
        daemons = (clique or {}).get("daemons") or []
        others = [daemon for daemon in daemons if daemon["nodeName"] != node]
        mine = next((daemon for daemon in daemons if daemon["nodeName"] == node), None)
        taken = {daemon["index"] for daemon in others}
        index = mine["index"] if mine else next(number for number in range(len(taken) + 1) if number not in taken)
        wanted = {
            "nodeName": node,
            "ipAddress": pod["status"]["podIP"],
            "cliqueID": clique_id,
            "index": index,
            "status": "Ready" if is_ready(pod) else "NotReady",
        }
        if mine == wanted:
            return
        metadata = {
            "name": name,
            "namespace": namespace,
            "labels": {LABEL: uid, f"{LABEL}.cliqueID": clique_id},
        }
        if clique is None:
            document = {
                "apiVersion": "resource.nvidia.com/v1beta1",
                "kind": _CLIQUE,
                "metadata": metadata,
                "daemons": [wanted],
            }
            await insist(lambda: self.cluster.client.create(RESOURCES[_CLIQUE](document)), what=f"{_CLIQUE} {name}")
        else:
            await self._write(metadata, [*others, wanted])

    async def _write(self, metadata: Mapping[str, Any], daemons: list[Mapping[str, Any]]) -> None:
        name, namespace = metadata["name"], metadata["namespace"]
        patch = {"daemons": daemons}
        await insist(
            lambda: self.cluster.client.patch(
                RESOURCES[_CLIQUE], name, patch, namespace=namespace, patch_type=PatchType.MERGE
            ),
            what=f"{_CLIQUE} {name}",
        )


def _is_daemon(pod: Mapping[str, Any]) -> bool:
    labels = pod["metadata"].get("labels") or {}
    return (
        LABEL in labels and bool((pod.get("status") or {}).get("podIP")) and "deletionTimestamp" not in pod["metadata"]
    )
