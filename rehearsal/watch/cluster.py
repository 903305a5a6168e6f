"""The cluster as one simulator sees it: objects of some kinds, cached as plain documents and kept by watches.

Each kind is listed, then watched from that version. Any end of the watch (a restarted API server, a version that is too
old) leads to a new list, whose differences are reported as events, so nothing is missed and nothing is polled. The
objects of a custom resource are watched while its definition is there, and no watch of them is long: a request for one
that comes while the API server takes a changed definition over may never be answered (seen 2026-11-29).
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import httpx2
from lightkube.core.async_client import AsyncClient

from rehearsal.watch.kinds import DEFINED_BY, DEFINITION, RESOURCES, everywhere
from rehearsal.watch.requests import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, UNREACHABLE

log = logging.getLogger(__name__)

LONGEST_WATCH_SECONDS: Final = 10.0
"""Limit of a watch of custom resources. Controllers end every watch after five to ten minutes (kubernetes/client-go,
tools/cache/reflector.go), which are as long at the usual speed.
"""
Document = dict[str, Any]
Key = tuple[str, str]
"""Namespace ("" for what has none) and name."""
Listener = Callable[[str, Document, bool], None]
"""Takes the kind, the document, and whether the object is gone."""


class Cluster:
    """The cached objects, and the listeners for changes.

    kinds: what is watched, of `RESOURCES`; listeners: called after the cache has changed.
    """

    def __init__(self, client: AsyncClient, kinds: Iterable[str]) -> None:
        self.client = client
        self.version = 0
        """Goes up with every change."""
        self.listeners: list[Listener] = []
        self._kinds = frozenset(kinds)
        self._objects: dict[str, dict[Key, Document]] = {kind: {} for kind in {*self._kinds, DEFINITION}}
        self._listed: set[str] = set()
        self._changed = asyncio.Event()

    def of(self, kind: str) -> dict[Key, Document]:
        """The objects of a kind, as they are now. Raises KeyError for a kind that is not watched."""
        return self._objects[kind]

    @property
    def is_listed(self) -> bool:
        """True if every kind has been read once, or lacks a definition."""
        return DEFINITION in self._listed and all(
            kind in self._listed or (kind in DEFINED_BY and not self._is_served(kind)) for kind in self._kinds
        )

    async def watch(self) -> None:
        """Keep the cache until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for kind in self._objects:
                keep = self._keep_while_served(kind) if kind in DEFINED_BY else self._keep(kind)
                tasks.create_task(keep)

    async def wait_listed(self) -> None:
        """Wait until every kind has been read once, or lacks a definition."""
        await self.wait_until(lambda: self.is_listed)

    async def wait_until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition over the cache holds; it is called again after every change."""
        while not condition():
            await self._changed.wait()

    async def changed_since(self, version: int) -> None:
        """Wait for a change after this version of the cache; a change that came in the meantime counts."""
        await self.wait_until(lambda: self.version != version)

    def touch(self) -> None:
        """Have every condition called again, because something outside the cache has changed."""
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    def _is_served(self, kind: str) -> bool:
        definition = self._objects[DEFINITION].get(("", DEFINED_BY[kind]))
        conditions = ((definition or {}).get("status") or {}).get("conditions") or []
        return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)

    async def _keep_while_served(self, kind: str) -> None:
        while True:
            await self.wait_until(lambda: self._is_served(kind))
            watch = asyncio.create_task(self._keep(kind))
            try:
                await self.wait_until(lambda: not self._is_served(kind))
            finally:
                watch.cancel()
            self._listed.discard(kind)
            self._replace(kind, [])

    async def _keep(self, kind: str) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                listing = self.client.list(RESOURCES[kind], **everywhere(kind))
                self._replace(kind, [item async for item in listing])
                pause = FIRST_PAUSE_SECONDS
                self._listed.add(kind)
                self.touch()
                version = listing.resourceVersion
                async with asyncio.timeout(LONGEST_WATCH_SECONDS if kind in DEFINED_BY else None):
                    async for change, item in self.client.watch(
                        RESOURCES[kind], resource_version=version, **everywhere(kind)
                    ):
                        self._apply(kind, change, item)
            except TimeoutError:
                log.debug("watch of %s starts again: it has lasted long enough", kind)
            except httpx2.HTTPStatusError as error:
                # Gone (410): the version is too old. Not Found (404): the definition is not served yet, or no longer.
                expected = error.response.status_code in {404, 410}
                log.log(logging.DEBUG if expected else logging.WARNING, "watch of %s starts again: %r", kind, error)
            except UNREACHABLE as error:
                log.warning("watch of %s starts again: %r", kind, error)
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _replace(self, kind: str, documents: Iterable[Document]) -> None:
        objects = self._objects[kind]
        # The items of a list do not say their kind; those of a watch do.
        fresh = {_key(document): {"kind": kind, **document} for document in documents}
        for key in set(objects) - set(fresh):
            self._tell(kind, objects.pop(key), gone=True)
        for key, document in fresh.items():
            old = objects.get(key)
            if old is not None and old["metadata"].get("uid") != document["metadata"].get("uid"):
                self._tell(kind, objects.pop(key), gone=True)
            if old is None or old["metadata"].get("resourceVersion") != document["metadata"].get("resourceVersion"):
                objects[key] = document
                self._tell(kind, document, gone=False)

    def _apply(self, kind: str, change: str, document: Document) -> None:
        if change == "DELETED":
            self._objects[kind].pop(_key(document), None)
            self._tell(kind, document, gone=True)
        elif change in {"ADDED", "MODIFIED"}:
            self._objects[kind][_key(document)] = document
            self._tell(kind, document, gone=False)

    def _tell(self, kind: str, document: Document, *, gone: bool) -> None:
        for listener in self.listeners:
            listener(kind, document, gone)
        self.touch()


def _key(document: Mapping[str, Any]) -> Key:
    metadata = document["metadata"]
    return metadata.get("namespace") or "", metadata["name"]
