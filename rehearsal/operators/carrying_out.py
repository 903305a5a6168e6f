"""A plan carried out: an operator's requests to the API server."""

import logging
from collections.abc import Awaitable
from typing import Any

import httpx2
from lightkube.core.async_client import AsyncClient
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import PodEviction
from lightkube.types import CascadeType, PatchType

from rehearsal.operators.plan import Document, Plan
from rehearsal.watch.kinds import RESOURCES
from rehearsal.watch.requests import UNREACHABLE

log = logging.getLogger(__name__)


async def carry_out(client: AsyncClient, plan: Plan, *, manager: str) -> bool:
    """Carry out the plan; True if all of it succeeded. A failure is logged, and comes up again.

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
    for document, annotations in plan.annotations:
        done.append(await _attempt(_replace_annotations(client, document, annotations), "annotate", document))
    for document, finalizers in plan.finalizers:
        done.append(await _attempt(_set_finalizers(client, document, finalizers), "finalize", document))
    for document, status in plan.statuses:
        done.append(await _attempt(_set_status(client, document, status), "write status of", document))
        log.info("%s %s: %s", document["kind"], document["metadata"]["name"], _word(status))
    return all(done)


def _node_patch(plan: Plan, node: str) -> Document:
    metadata = {
        key: changes
        for key, changes in (
            ("labels", plan.node_labels.get(node)),
            ("annotations", plan.node_annotations.get(node)),
        )
        if changes
    }
    patch: Document = {"metadata": metadata} if metadata else {}
    if node in plan.cordons:
        patch["spec"] = {"unschedulable": plan.cordons[node] or None}
    return patch


async def _evict(client: AsyncClient, pod: Document) -> None:
    """Request a pod's eviction; a disruption budget may refuse it for now."""
    metadata = pod["metadata"]
    body = PodEviction(metadata=ObjectMeta(name=metadata["name"], namespace=metadata["namespace"]))
    await client.create(body, metadata["name"], namespace=metadata["namespace"])


async def _attempt(request: Awaitable[Any], verb: str, document: Document) -> bool:
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


async def _apply(client: AsyncClient, document: Document, manager: str) -> None:
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


async def _delete(client: AsyncClient, document: Document) -> None:
    metadata = document["metadata"]
    await client.delete(
        RESOURCES[document["kind"]],
        metadata["name"],
        namespace=metadata.get("namespace"),
        cascade=CascadeType.BACKGROUND,
    )


async def _replace_annotations(client: AsyncClient, document: Document, annotations: dict[str, str]) -> None:
    gone = dict.fromkeys(document["metadata"].get("annotations") or {})
    patch = {"metadata": {"annotations": {**gone, **annotations}}}
    await client.patch(RESOURCES[document["kind"]], document["metadata"]["name"], patch, patch_type=PatchType.MERGE)


def _word(status: Document) -> str:
    """A status in a word: its state, or the reason of its first condition."""
    word = status.get("state") or status.get("status")
    return str(word or status["conditions"][0]["reason"])


async def _set_finalizers(client: AsyncClient, document: Document, finalizers: list[str]) -> None:
    metadata, resource = document["metadata"], RESOURCES[document["kind"]]
    patch = {"metadata": {"finalizers": finalizers or None}}
    await client.patch(
        resource, metadata["name"], patch, namespace=metadata.get("namespace"), patch_type=PatchType.MERGE
    )


async def _set_status(client: AsyncClient, document: Document, status: Document) -> None:
    """Replace the status; keys that it no longer has are taken away."""
    old = dict.fromkeys(document.get("status") or {})
    await client.patch(
        RESOURCES[document["kind"]].Status,
        document["metadata"]["name"],
        {"status": {**old, **status}},
        namespace=document["metadata"].get("namespace"),
        patch_type=PatchType.MERGE,
    )
