"""The watch cache that the simulators share, against an API server that says what a test lets it say."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any, cast

import httpx2
import pytest
from lightkube.core.async_client import AsyncClient

from rehearsal.watch import cluster as watching_cluster
from rehearsal.watch.cluster import Cluster, Document
from rehearsal.watch.kinds import DEFINED_BY, DEFINITION

DEFINED = {"conditions": [{"type": "Established", "status": "True"}]}


def thing(name: str, version: int = 1, uid: str = "u", **rest: Any) -> Document:
    return {"metadata": {"name": name, "resourceVersion": str(version), "uid": uid}, **rest}


class Listing:
    """The result of a list: the objects, and the version from which to watch."""

    resourceVersion = "1"  # noqa: N815 - as lightkube calls it

    def __init__(self, server: "Server", kind: str) -> None:
        self._server, self._kind = server, kind

    async def __aiter__(self) -> AsyncIterator[Document]:
        if self._kind in self._server.refused:
            request = httpx2.Request("GET", "http://server")
            raise httpx2.HTTPStatusError("no", request=request, response=httpx2.Response(404, request=request))
        self._server.lists.append(self._kind)
        for document in self._server.objects.get(self._kind, []):
            yield document


class Server:
    """Lists its objects, and sends what a test puts into a kind's queue; None ends the watch."""

    def __init__(self, **objects: list[Document]) -> None:
        self.objects, self.refused = objects, set[str]()
        self.lists: list[str] = []
        self.queues: dict[str, asyncio.Queue[tuple[str, Document] | None]] = {}

    def list(self, resource: Any, **_: Any) -> Listing:
        return Listing(self, resource._api_info.resource.kind)

    async def watch(self, resource: Any, **_: Any) -> AsyncIterator[tuple[str, Document]]:
        queue = self.queues.setdefault(resource._api_info.resource.kind, asyncio.Queue())
        while (event := await queue.get()) is not None:
            yield event

    async def tell(self, kind: str, change: str, document: Document) -> None:
        await self.queues.setdefault(kind, asyncio.Queue()).put((change, document))


def watching(server: Server, *kinds: str) -> Callable[[Callable[[Cluster], Coroutine[Any, Any, None]]], None]:
    """Run a test's own steps while a cluster of these kinds is watched."""

    def run(steps: Callable[[Cluster], Coroutine[Any, Any, None]]) -> None:
        async def body() -> None:
            cluster = Cluster(cast("AsyncClient", server), kinds)
            watch = asyncio.create_task(cluster.watch())
            try:
                await asyncio.wait_for(steps(cluster), 5)
            finally:
                watch.cancel()

        asyncio.run(body())

    return run


def names(cluster: Cluster, kind: str) -> set[str]:
    return {name for _, name in cluster.of(kind)}


def test_objects_are_listed_and_then_follow_the_watch() -> None:
    server = Server(Node=[thing("a"), thing("b")])

    async def steps(cluster: Cluster) -> None:
        await cluster.wait_listed()
        assert names(cluster, "Node") == {"a", "b"}
        await server.tell("Node", "DELETED", thing("a"))
        await server.tell("Node", "ADDED", thing("c"))
        await cluster.wait_until(lambda: names(cluster, "Node") == {"b", "c"})

    watching(server, "Node")(steps)


def test_every_object_says_its_kind_though_the_items_of_a_list_do_not() -> None:
    server = Server(Pod=[thing("listed")])

    async def steps(cluster: Cluster) -> None:
        await cluster.wait_listed()
        await server.tell("Pod", "ADDED", thing("watched", kind="Pod"))
        await cluster.wait_until(lambda: len(cluster.of("Pod")) == 2)
        assert {pod["kind"] for pod in cluster.of("Pod").values()} == {"Pod"}

    watching(server, "Pod")(steps)


def test_what_changed_while_no_watch_was_open_is_told_by_the_next_list() -> None:
    server = Server(Node=[thing("stays"), thing("changes"), thing("goes"), thing("made-anew", uid="old")])

    async def steps(cluster: Cluster) -> None:
        await cluster.wait_listed()
        heard: list[tuple[str, bool]] = []
        cluster.listeners.append(lambda _kind, document, gone: heard.append((document["metadata"]["name"], gone)))
        server.objects["Node"] = [thing("stays"), thing("changes", 2), thing("made-anew", 2, uid="new"), thing("new")]
        await server.queues["Node"].put(None)
        await cluster.wait_until(lambda: "new" in names(cluster, "Node"))
        expected = {("changes", False), ("goes", True), ("made-anew", True), ("made-anew", False), ("new", False)}
        assert set(heard) == expected

    watching(server, "Node")(steps)


def test_objects_of_a_custom_resource_are_watched_while_its_definition_is_there() -> None:
    server = Server(IPPool=[thing("pool")], CustomResourceDefinition=[])
    definition = thing(DEFINED_BY["IPPool"], status=DEFINED)

    async def steps(cluster: Cluster) -> None:
        await cluster.wait_listed()
        assert server.lists == [DEFINITION]
        await server.tell(DEFINITION, "ADDED", definition)
        await cluster.wait_until(lambda: names(cluster, "IPPool") == {"pool"})
        await server.tell(DEFINITION, "DELETED", definition)
        await cluster.wait_until(lambda: not cluster.of("IPPool"))
        assert cluster.is_listed, "a kind without a definition has no objects"

    watching(server, "IPPool")(steps)


def test_a_watch_of_custom_resources_that_is_never_answered_ends_and_the_next_list_has_what_it_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watching_cluster, "LONGEST_WATCH_SECONDS", 0.01)
    definition = thing(DEFINED_BY["IPPool"], status=DEFINED)
    server = Server(Node=[thing("a")], IPPool=[thing("pool")], CustomResourceDefinition=[definition])

    async def steps(cluster: Cluster) -> None:
        await cluster.wait_listed()
        server.objects["IPPool"] = [thing("pool", 2, spec="changed")]
        await cluster.wait_until(lambda: cluster.of("IPPool")["", "pool"].get("spec") == "changed")
        assert server.lists.count("Node") == 1, "what is built in is watched for good"

    watching(server, "Node", "IPPool")(steps)


def test_a_kind_that_is_defined_counts_as_read_only_once_it_was_listed() -> None:
    server = Server(IPPool=[thing("pool")], CustomResourceDefinition=[thing(DEFINED_BY["IPPool"], status=DEFINED)])
    server.refused.add("IPPool")

    async def steps(cluster: Cluster) -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(cluster.wait_listed(), 0.3)
        server.refused.clear()
        await cluster.wait_listed()
        assert names(cluster, "IPPool") == {"pool"}

    watching(server, "IPPool")(steps)


def test_a_kind_that_nobody_named_is_not_there() -> None:
    async def steps(cluster: Cluster) -> None:
        with pytest.raises(KeyError):
            cluster.of("Pod")

    watching(Server(), "Node")(steps)
