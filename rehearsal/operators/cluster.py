"""The operators' side of the API server: cached objects for a snapshot, and a plan carried out."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Iterable
from typing import Any, Final

import httpx2
from lightkube.core.async_client import AsyncClient
from lightkube.generic_resource import create_global_resource, create_namespaced_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import PodEviction
from lightkube.types import CascadeType, PatchType

from rehearsal.operators.plan import Doc, Plan, Snapshot

log = logging.getLogger(__name__)

_NAMESPACED: Final = {
    "Pod": ("", "v1", "pods"),
    "ConfigMap": ("", "v1", "configmaps"),
    "DaemonSet": ("apps", "v1", "daemonsets"),
    "Deployment": ("apps", "v1", "deployments"),
    "ControllerRevision": ("apps", "v1", "controllerrevisions"),
    "NetworkAttachmentDefinition": ("k8s.cni.cncf.io", "v1", "network-attachment-definitions"),
}
_GLOBAL: Final = {
    "Node": ("", "v1", "nodes"),
    "RuntimeClass": ("node.k8s.io", "v1", "runtimeclasses"),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    "NicClusterPolicy": ("mellanox.com", "v1alpha1", "nicclusterpolicies"),
    "NicNodePolicy": ("mellanox.com", "v1alpha1", "nicnodepolicies"),
    "IPoIBNetwork": ("mellanox.com", "v1alpha1", "ipoibnetworks"),
    "ClusterPolicy": ("nvidia.com", "v1", "clusterpolicies"),
}
# Plain documents on both ways for all kinds: typed models would drop what they do not know.
RESOURCES: Final[dict[str, Any]] = {
    **{kind: create_namespaced_resource(g, v, kind, plural) for kind, (g, v, plural) in _NAMESPACED.items()},
    **{kind: create_global_resource(g, v, kind, plural) for kind, (g, v, plural) in _GLOBAL.items()},
}
UNREACHABLE: Final = (httpx2.TransportError, httpx2.StreamError, OSError)
_PAUSE_SECONDS: Final = 0.5
"""Between two attempts at a kind whose definition is not there yet, or at an API server that is not."""


class Cache:
    """The objects of some kinds, kept by list and watch; `changed` is set at every event."""

    def __init__(self, client: AsyncClient, kinds: Iterable[str]) -> None:
        self._client = client
        self._objects: dict[str, dict[tuple[str, str], Doc]] = {}
        self._kinds = tuple(kinds)
        self.changed = asyncio.Event()

    def snapshot(self) -> Snapshot | None:
        """What is known; None until every kind was listed once."""
        if set(self._objects) != set(self._kinds):
            return None
        return Snapshot({kind: list(objects.values()) for kind, objects in self._objects.items()})

    async def keep(self) -> None:
        """Keep the cache until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for kind in self._kinds:
                tasks.create_task(self._keep(kind))

    async def _keep(self, kind: str) -> None:
        while True:
            try:
                async for _ in self._follow(kind):
                    self.changed.set()
            except httpx2.HTTPStatusError as error:
                if error.response.status_code == 404:  # the definition is not there (any more)
                    if self._objects.get(kind) != {}:
                        self.changed.set()
                    self._objects[kind] = {}
                else:
                    log.debug("watch of %s starts again: %r", kind, error)
            except UNREACHABLE as error:
                log.warning("watch of %s starts again: %r", kind, error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def _follow(self, kind: str) -> AsyncIterator[None]:
        resource = RESOURCES[kind]
        scope: dict[str, Any] = {"namespace": "*"} if kind in _NAMESPACED else {}
        listing = self._client.list(resource, **scope)
        objects = {_key(item): item async for item in listing}
        self._objects[kind] = objects
        yield
        async for change, item in self._client.watch(resource, resource_version=listing.resourceVersion, **scope):
            if change == "DELETED":
                objects.pop(_key(item), None)
            elif change in {"ADDED", "MODIFIED"}:
                objects[_key(item)] = item
            yield


def _key(item: Doc) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


async def carry_out(client: AsyncClient, plan: Plan, *, manager: str) -> bool:
    """Do what the plan asks; whether all of it succeeded. What fails is logged, and comes up again.

    manager: the field manager, as which objects are applied.
    """
    done = [await _attempt(_apply(client, document, manager), "apply", document) for document in plan.objects]
    done += [await _attempt(_delete(client, document), "delete", document) for document in plan.deletions]
    done += [await _attempt(_evict(client, pod), "evict", pod) for pod in plan.evictions]
    for node in sorted({*plan.node_labels, *plan.node_annotations, *plan.cordons}):
        patch = _node_patch(plan, node)
        request = client.patch(RESOURCES["Node"], node, patch, patch_type=PatchType.MERGE)
        done.append(await _attempt(request, "label", {"kind": "Node", "metadata": {"name": node}}))
        log.info("Node %s: %s", node, patch)
    for document, status in plan.statuses:
        done.append(await _attempt(_set_status(client, document, status), "write status of", document))
        log.info("%s %s: %s", document["kind"], document["metadata"]["name"], status["state"])
    return all(done)


def _node_patch(plan: Plan, node: str) -> Doc:
    metadata = {
        key: changes
        for key, changes in (
            ("labels", plan.node_labels.get(node)),
            ("annotations", plan.node_annotations.get(node)),
        )
        if changes
    }
    patch: Doc = {"metadata": metadata} if metadata else {}
    if node in plan.cordons:
        patch["spec"] = {"unschedulable": plan.cordons[node] or None}
    return patch


async def _evict(client: AsyncClient, pod: Doc) -> None:
    """Ask for a pod's eviction; a disruption budget may refuse it for now."""
    metadata = pod["metadata"]
    body = PodEviction(metadata=ObjectMeta(name=metadata["name"], namespace=metadata["namespace"]))
    await client.create(body, metadata["name"], namespace=metadata["namespace"])


async def _attempt(request: Awaitable[Any], verb: str, document: Doc) -> bool:
    name = f"{document['kind']} {document['metadata']['name']}"
    try:
        await request
    except httpx2.HTTPStatusError as error:
        if error.response.status_code == 404 and verb != "apply":
            return True
        log.warning("could not %s %s: %s", verb, name, error)
        return False
    except UNREACHABLE as error:
        log.warning("could not %s %s: %r", verb, name, error)
        return False
    if verb in {"apply", "delete", "evict"}:
        log.info("%s %s", verb, name)
    return True


async def _apply(client: AsyncClient, document: Doc, manager: str) -> None:
    metadata = document["metadata"]
    await client.patch(
        RESOURCES[document["kind"]],
        metadata["name"],
        document,
        namespace=metadata.get("namespace"),
        patch_type=PatchType.APPLY,
        field_manager=manager,
        force=True,
    )


async def _delete(client: AsyncClient, document: Doc) -> None:
    metadata = document["metadata"]
    await client.delete(
        RESOURCES[document["kind"]],
        metadata["name"],
        namespace=metadata.get("namespace"),
        cascade=CascadeType.BACKGROUND,
    )


async def _set_status(client: AsyncClient, document: Doc, status: Doc) -> None:
    """Replace the status; keys that it has no more are taken away."""
    old = dict.fromkeys(document.get("status") or {})
    await client.patch(
        RESOURCES[document["kind"]].Status,
        document["metadata"]["name"],
        {"status": {**old, **status}},
        patch_type=PatchType.MERGE,
    )
