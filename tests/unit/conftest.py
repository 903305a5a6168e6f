"""The shared fixtures of every component's unit tests."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

import pulumi
import pytest
from aks_infiniband.access import api_server
from aks_infiniband.stack.settings.consistency import cluster as cluster_rules
from pulumi.runtime import stack
from pulumi.runtime.settings import SETTINGS

from declared.pulumi_mocks import AzureAndKubernetes, Deploy, Deployment, Recorder, Refusal
from tests.unit.command_line.loopback import kubeconfig, serving
from tests.unit.components.others_cluster import OthersCluster


@pytest.fixture(autouse=True)
def _the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge settings on one fixed day, so that no test fails when the support of a Kubernetes version ends."""
    monkeypatch.setattr(cluster_rules, "today", lambda: date(2026, 11, 22))


@pytest.fixture
def others() -> Iterator[OthersCluster]:
    """A cluster that others keep; a test says what its API server answers."""
    cluster = OthersCluster()
    with serving(cluster.answer) as url:
        cluster.kubeconfig = kubeconfig(url)
        yield cluster


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The program's warnings."""
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    return said


def _told_already(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Keep quiet about what the outputs of a failed program hold: `deploy` has raised the failure.

    Every waiter for the resource that failed holds its exception, which is never retrieved. The garbage collector would
    write each to stderr with its traceback, in whatever test runs then or after the last one. Writing one while Python
    3.11 compiles a module even fails the run: a traceback is parsed, and the parser is not re-entrant.
    """
    if "exception was never retrieved" not in context["message"]:
        loop.default_exception_handler(context)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """End what a failed program has left. The garbage collector would complain of it in whatever test runs then."""
    loop.set_exception_handler(_told_already)
    while left := asyncio.all_tasks(loop):
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))


@pytest.fixture
def event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """The thread's event loop, of which the SDK keeps one. A test that calls `asyncio.run` leaves none."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield loop
    _end(loop)
    loop.close()
    asyncio.set_event_loop(asyncio.new_event_loop())


@pytest.fixture
def deploy(monkeypatch: pytest.MonkeyPatch, event_loop: asyncio.AbstractEventLoop) -> Deploy:
    """Runs a program against the mocks and gives what it registered. Its exceptions come through.

    preview: True if nothing is created, so that Azure's answers are unknown. outputs: by type token, a resource's
    outputs in addition to its inputs. feature_states: states of the subscription feature, one a look; the last one
    stays. answers: by the last part of its token, a function's answer, or error. hooks: True if the hooks before a
    resource's creation run.
    """

    def run(
        program: Callable[[], Any],
        *,
        preview: bool = False,
        outputs: Mapping[str, Mapping[str, Any]] | None = None,
        feature_states: list[str] | None = None,
        answers: Mapping[str, Mapping[str, Any] | Refusal] | None = None,
        hooks: bool = False,
    ) -> Deployment:
        mocks = AzureAndKubernetes(outputs or {}, feature_states or ["Registered"], answers)
        monitor = Recorder(mocks, hooks=hooks)
        SETTINGS.rpc_manager.clear()
        SETTINGS.outputs.clear()
        pulumi.runtime.set_mocks(mocks, "aks-infiniband", "dev", preview, monitor=monitor)
        deployment = Deployment(registrations=monitor.registrations, calls=mocks.calls, reads=monitor.reads)

        async def whole() -> None:
            async def body() -> None:
                deployment.result = await pulumi.Output.from_input(program()).future()

            await stack.run_pulumi_func(body)

        try:
            event_loop.run_until_complete(whole())
        except BaseException:
            event_loop.set_exception_handler(_told_already)
            raise
        return deployment

    async def answers(*_: object) -> None:
        """The API servers of mocked clusters: each takes connections."""

    monkeypatch.setattr(api_server, "why_no_connection", answers)
    return run
