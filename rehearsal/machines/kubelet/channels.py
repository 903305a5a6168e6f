"""A pod's place in a ComputeDomain: what the kubelet plugin of NVIDIA's DRA driver does before it starts, and after.

As kubernetes-sigs/dra-driver-nvidia-gpu 9593204 (2026-08-07) does it, in compute-domain-kubelet-plugin/device_state.go:
the node gets the ComputeDomain's label, by which a daemon comes, and the claim is prepared when that one is ready.
"""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lightkube.types import PatchType

from rehearsal.machines.hardware.inventory import Machine
from rehearsal.machines.nodes.compute_domains import DRIVER, LABEL, entry_of
from rehearsal.machines.pods.running import RunningPod
from rehearsal.watch.cluster import Cluster
from rehearsal.watch.kinds import RESOURCES
from rehearsal.watch.requests import insist

log = logging.getLogger(__name__)

Document = Mapping[str, Any]
_COMPLAINT_SECONDS: Final = 2.0
"""Real seconds until a pod gets the event that its claim is not prepared. A kubelet says so after the driver's limit,
45 s.
"""


def domains_of(claims: Mapping[str, Document]) -> dict[str, str]:
    """The ComputeDomain's UID of each claim for a channel, by the name that the pod's spec has for the claim."""
    return {name: uid for name, claim in claims.items() if (uid := _domain(claim)) is not None}


def _domain(claim: Document) -> str | None:
    devices = ((claim.get("status") or {}).get("allocation") or {}).get("devices") or {}
    return next(iter(_domains(devices)), None)


def _domains(allocated: Document) -> Iterator[str]:
    for config in allocated.get("config") or []:
        opaque = config.get("opaque") or {}
        parameters = opaque.get("parameters") or {}
        if opaque.get("driver") == DRIVER and parameters.get("kind") == "ComputeDomainChannelConfig":
            yield str(parameters["domainID"])


async def prepare(pod: RunningPod, machine: Machine, uid: str, claim: str) -> None:
    """Until the pod's node is in the ComputeDomain, and its daemon ready."""
    complaint = asyncio.create_task(_complain(pod, machine, uid, claim))
    try:
        await pod.cluster.wait_until(lambda: label_of(pod.cluster, machine.name) in (None, uid))
        await _label(pod.cluster, machine.name, uid)
        await pod.cluster.wait_until(lambda: _ready(pod.cluster, machine.name, uid))
    finally:
        complaint.cancel()


async def unprepare(cluster: Cluster, node: str, uid: str) -> None:
    """The pod has ended: its node leaves the ComputeDomain."""
    if label_of(cluster, node) == uid:
        await _label(cluster, node, None)


def label_of(cluster: Cluster, node: str) -> str | None:
    """The ComputeDomain that a node is in."""
    document = cluster.of("Node").get(("", node))
    return None if document is None else (document["metadata"].get("labels") or {}).get(LABEL)


def _ready(cluster: Cluster, node: str, uid: str) -> bool:
    entry = entry_of(node, cluster.of("ComputeDomainClique").values(), uid)
    return entry is not None and entry["status"] == "Ready"


async def _label(cluster: Cluster, node: str, uid: str | None) -> None:
    patch = {"metadata": {"labels": {LABEL: uid}}}
    await insist(
        lambda: cluster.client.patch(RESOURCES["Node"], node, patch, patch_type=PatchType.MERGE),
        what=f"labels of node {node}",
    )
    log.info("node %s: %s", node, f"in ComputeDomain {uid}" if uid else "in no ComputeDomain")


async def _complain(pod: RunningPod, machine: Machine, uid: str, claim: str) -> None:
    """The words are those of the driver's errors; a kubelet's own before them (Kubernetes 1.35, pkg/kubelet/cm/dra)."""
    await asyncio.sleep(_COMPLAINT_SECONDS)
    other = label_of(pod.cluster, machine.name) not in (None, uid)
    why = (
        "error adding Node label for ComputeDomain: label already exists for a different ComputeDomain"
        if other
        else "error asserting ComputeDomain Ready: current node not ready in ComputeDomain"
    )
    told = (
        "Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for ResourceClaim "
        f"{claim}: error preparing devices for claim '{pod.namespace}/{claim}': prepare devices failed: error applying "
        f"config: {why}"
    )
    await pod.tell("FailedPrepareDynamicResources", told, warning=True)
