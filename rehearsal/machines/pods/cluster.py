"""What the machines know of the cluster: cached objects, kept by watches, as plain documents.

Each kind is listed, then watched from that version; whatever ends the watch (a restarted API server, a version that is
gone) leads to a new list, whose differences are told as events. So nothing is missed and nothing is polled.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx2
from lightkube.core.async_client import AsyncClient
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import (
    GenericNamespacedResource,
    create_global_resource,
    create_namespaced_resource,
)
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.core_v1 import ConfigMap, Node, Pod

log = logging.getLogger(__name__)

_T = TypeVar("_T")

Document = dict[str, Any]
Key = tuple[str, str]
"""Namespace ("" for what has none) and name."""

NODE_FEATURE_RULES: Final = "nodefeaturerules.nfd.k8s-sigs.io"
_ATTACHMENTS: Final = "network-attachment-definitions.k8s.cni.cncf.io"
_POOLS: Final = "ippools.nv-ipam.nvidia.com"
NodeFeatureRule = create_global_resource("nfd.k8s-sigs.io", "v1alpha1", "NodeFeatureRule", "nodefeaturerules")
AttachmentDefinition = create_namespaced_resource(
    "k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions"
)
AddressPool = create_namespaced_resource("nv-ipam.nvidia.com", "v1alpha1", "IPPool", "ippools")
_NEEDED_FIRST: Final = frozenset({"Node", "Pod", "ConfigMap"})
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 3.0
UNREACHABLE: Final = (httpx2.TransportError, httpx2.StreamError, httpx2.HTTPStatusError, OSError)
"""What the client raises when the API server cannot be reached, or answers with an error."""


def key_of(document: Mapping[str, Any]) -> Key:
    """The key under which a document is cached."""
    metadata = document["metadata"]
    return metadata.get("namespace") or "", metadata["name"]


@dataclass
class Cluster:
    """The caches, and who is told of changes."""

    client: AsyncClient
    nodes: dict[Key, Document] = field(default_factory=dict)
    pods: dict[Key, Document] = field(default_factory=dict)
    config_maps: dict[Key, Document] = field(default_factory=dict)
    feature_rules: dict[Key, Document] = field(default_factory=dict)
    attachment_definitions: dict[Key, Document] = field(default_factory=dict)
    address_pools: dict[Key, Document] = field(default_factory=dict)
    version: int = 0
    """Goes up with every change."""
    listeners: list[Callable[[str, Document, bool], None]] = field(default_factory=list)
    """Called with kind, document and whether it is gone, after the cache has changed."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)
    _listed: set[str] = field(default_factory=set)

    async def watch(self) -> None:
        """Keep the caches until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep("Node", Node, self.nodes))
            tasks.create_task(self._keep("Pod", Pod, self.pods, namespace="*"))
            tasks.create_task(self._keep("ConfigMap", ConfigMap, self.config_maps, namespace="*"))
            for kind, definition, resource, cache in (
                ("NodeFeatureRule", NODE_FEATURE_RULES, NodeFeatureRule, self.feature_rules),
                ("NetworkAttachmentDefinition", _ATTACHMENTS, AttachmentDefinition, self.attachment_definitions),
                ("IPPool", _POOLS, AddressPool, self.address_pools),
            ):
                tasks.create_task(self._keep_while_defined(kind, definition, resource, cache))

    async def wait_listed(self) -> None:
        """Until nodes, pods and ConfigMaps have been read once."""
        await self.wait_until(lambda: self._listed >= _NEEDED_FIRST)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Until a condition over the caches holds; it is asked again after every change."""
        while not condition():
            await self._changed.wait()

    async def changed_since(self, version: int) -> None:
        """Until there is a change that came after this version of the caches: none is missed while one is looked at."""
        await self.wait_until(lambda: self.version != version)

    def touch(self) -> None:
        """Have every condition asked again: something beside the caches has changed."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def _keep_while_defined(self, kind: str, definition: str, resource: Any, cache: dict[Key, Document]) -> None:
        """Watch the objects of a custom resource while its definition is there."""
        found: dict[Key, Document] = {}
        scope: dict[str, Any] = {"namespace": "*"} if issubclass(resource, GenericNamespacedResource) else {}
        async with asyncio.TaskGroup() as tasks:
            fields = {"metadata.name": definition}
            tasks.create_task(self._keep("CustomResourceDefinition", CustomResourceDefinition, found, fields=fields))
            while True:
                await self.wait_until(lambda: _is_served(found))
                watch = asyncio.create_task(self._keep(kind, resource, cache, **scope))
                try:
                    await self.wait_until(lambda: not _is_served(found))
                finally:
                    watch.cancel()
                self._replace(kind, cache, [])

    async def _keep(self, kind: str, resource: Any, cache: dict[Key, Document], **scope: Any) -> None:
        pause = _FIRST_PAUSE_SECONDS
        while True:
            try:
                listing = self.client.list(resource, **scope)
                self._replace(kind, cache, [item.to_dict() async for item in listing])
                pause = _FIRST_PAUSE_SECONDS
                self._listed.add(kind)
                self.touch()
                watch = self.client.watch(resource, resource_version=listing.resourceVersion, **scope)
                async for change, item in watch:
                    self._apply(kind, cache, change, item.to_dict())
            except UNREACHABLE as error:
                gone = isinstance(error, ApiError) and error.status.code == 410
                log.log(logging.DEBUG if gone else logging.WARNING, "watch of %s starts again: %r", kind, error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    def _replace(self, kind: str, cache: dict[Key, Document], documents: Iterable[Document]) -> None:
        fresh = {key_of(document): document for document in documents}
        for key in set(cache) - set(fresh):
            self._tell(kind, cache.pop(key), gone=True)
        for key, document in fresh.items():
            old = cache.get(key)
            if old is not None and old["metadata"].get("uid") != document["metadata"].get("uid"):
                self._tell(kind, cache.pop(key), gone=True)
            if old is None or old["metadata"].get("resourceVersion") != document["metadata"].get("resourceVersion"):
                cache[key] = document
                self._tell(kind, document, gone=False)

    def _apply(self, kind: str, cache: dict[Key, Document], change: str, document: Document) -> None:
        if change == "DELETED":
            cache.pop(key_of(document), None)
            self._tell(kind, document, gone=True)
        elif change in {"ADDED", "MODIFIED"}:
            cache[key_of(document)] = document
            self._tell(kind, document, gone=False)

    def _tell(self, kind: str, document: Document, *, gone: bool) -> None:
        for listener in self.listeners:
            listener(kind, document, gone)
        self.touch()


def _is_served(definitions: Mapping[Key, Document]) -> bool:
    return any(
        condition["type"] == "Established" and condition["status"] == "True"
        for definition in definitions.values()
        for condition in (definition.get("status") or {}).get("conditions") or []
    )


async def insist(request: Callable[[], Awaitable[_T]], *, what: str) -> _T | None:
    """Make a request until the API server answers; None when it says that the object is gone or another.

    Raises lightkube's ApiError for an answer that asking again would not change.
    """
    pause = _FIRST_PAUSE_SECONDS
    while True:
        try:
            return await request()
        except ApiError as error:
            if error.status.code in {404, 409}:
                return None
            if error.status.code is not None and error.status.code < 500 and error.status.code != 429:
                raise
            log.warning("%s: %s", what, error)
        except UNREACHABLE as error:
            log.warning("%s: %r", what, error)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)
