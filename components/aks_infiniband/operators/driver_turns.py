"""Two operators upgrade two drivers of the same nodes, and neither knows of the other: one upgrade after the other.

Each cordons a node, replaces its driver and uncordons it. If both are at one node, one notes that the other cordoned it
before, and the other uncordons it while the first is unfinished: pods could land there (seen with Network Operator
v26.4.1 and GPU Operator v26.3.3, 2026-11-23).
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.facts.driver_upgrades import AT_REST, FAILED, GPU, NIC, REQUIRED, skip_label, state_label
from aks_infiniband.resources.options import TIMEOUT_SECONDS

_NAMES: Final[Mapping[str, str]] = {NIC: "NIC driver", GPU: "GPU driver"}
_LOOK_SECONDS: Final = 30.0
_FAILED_LOOKS: Final = 3
"""In a row: a look must not end an update."""
_MOST_NAMES: Final = 3

Node = Mapping[str, Any]


class DriverUpgradeError(pulumi.RunError):
    """The upgrade of a driver does not end; the text names nodes, their states and the next command."""


def under_way(nodes: Sequence[Node], drivers: Sequence[str] = (NIC, GPU)) -> dict[str, str]:
    """By node that will upgrade a driver or is upgrading one: which driver, and which state. Nodes that are upgrading
    come first.

    A node that is passed over (label skip) waits for nothing. If an upgrade has failed, no other node begins.
    """
    turns: list[tuple[bool, str, str]] = []
    for driver in drivers:
        states = {str(node["metadata"]["name"]): _labels(node).get(state_label(driver), "") for node in nodes}
        held = {str(node["metadata"]["name"]) for node in nodes if _labels(node).get(skip_label(driver)) == "true"}
        for name, state in states.items():
            waits = state == REQUIRED
            if state in AT_REST or (waits and (name in held or FAILED in states.values())):
                continue
            turns.append((waits, name, f"{_NAMES[driver]}: {state}"))
    said: dict[str, str] = {}
    for _, name, state in sorted(turns):
        said[name] = f"{said[name]}, {state}" if name in said else state
    return said


def _labels(node: Node) -> Mapping[str, str]:
    return node["metadata"].get("labels") or {}


def in_words(waiting: Mapping[str, str]) -> str:
    """The progress of upgrades."""
    named = [f"{name} ({state})" for name, state in list(waiting.items())[:_MOST_NAMES]]
    more = f" and {len(waiting) - _MOST_NAMES} more" if len(waiting) > _MOST_NAMES else ""
    return f"{len(waiting)} {'node' if len(waiting) == 1 else 'nodes'} to go: {', '.join(named)}{more}"


class DriverTurns:
    """Has one operator's change wait for the other's upgrade, and a measurement for both. On a cluster without an
    upgrade under way nothing waits.
    """

    def __init__(
        self,
        name: str,
        *,
        kubeconfig: pulumi.Input[str],
        poll_seconds: float = 10,
        stable_seconds: float = 30,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        """name: unique in the program. stable_seconds: how long after a change of ours no upgrade must have begun.
        timeout_seconds: how long no node's state may change. The wait begins again with each change, so the number of
        nodes does not matter.
        """
        self._name = name
        self._poll, self._stable, self._timeout = poll_seconds, stable_seconds, timeout_seconds
        self._known: list[str] = []
        pulumi.Output.from_input(kubeconfig).apply(self._known.append)
        self._changed = False
        self._telling: list[asyncio.Task[None]] = []

    @cached_property
    def nic_policy(self) -> pulumi.ResourceHookBinding:
        """For the NIC policies, which share it: a change waits for the GPU driver's upgrade, and reports its
        progress.
        """

        async def wait(_: pulumi.ResourceHookArgs) -> None:
            await self._wait("before the NIC driver changes", {}, (GPU,))
            self._changed = True
            self._telling.append(asyncio.create_task(self._tell()))
            for told_already in self._telling[:-1]:
                told_already.cancel()

        async def end(_: pulumi.ResourceHookArgs) -> None:
            self._stop_telling()

        async def failed(_: pulumi.ErrorHookArgs) -> bool:
            self._stop_telling()
            return False

        return pulumi.ResourceHookBinding(
            before_update=[pulumi.ResourceHook(f"{self._name}-before-nic-driver", wait)],
            after_update=[pulumi.ResourceHook(f"{self._name}-after-nic-driver", end)],
            on_error=[pulumi.ErrorHook(f"{self._name}-nic-driver-failed", failed)],
        )

    @cached_property
    def gpu_release(self) -> pulumi.ResourceHookBinding:
        """For the GPU Operator's release: a change waits for the NIC driver's upgrade."""

        async def wait(_: pulumi.ResourceHookArgs) -> None:
            await self._wait("before the GPU Operator changes", {}, (NIC,))
            self._changed = True

        return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(f"{self._name}-before-gpu-driver", wait)])

    def measurement(self, pool: str, selector: Mapping[str, str]) -> pulumi.ResourceHook:
        """To run before a pool is measured. selector: labels of the pool's nodes."""

        async def wait(_: pulumi.ResourceHookArgs) -> None:
            await self._wait(f"before pool {pool} is measured", selector, (NIC, GPU))

        return pulumi.ResourceHook(f"{self._name}-before-measuring-{pool}", wait)

    async def _wait(self, when: str, selector: Mapping[str, str], drivers: Sequence[str]) -> None:
        """Wait until no driver of these nodes is being upgraded. Raises DriverUpgradeError if nothing changes."""
        quiet_since: float | None = None
        seen: dict[str, str] = {}
        moved, failures = time.monotonic(), 0
        while self._known:
            nodes, unread = await self._nodes(selector)
            now = time.monotonic()
            failures = failures + 1 if unread else 0
            if failures == _FAILED_LOOKS:
                pulumi.log.warn(f"{when}: whether a driver is being upgraded could not be read ({unread}); continuing")
                return
            waiting = seen if unread else under_way(nodes, drivers)
            if waiting != seen:
                moved, seen = now, waiting
                if waiting:
                    pulumi.log.info(f"{when}, drivers are upgraded one node at a time; {in_words(waiting)}")
            quiet_since = None if waiting or unread else quiet_since or now
            if quiet_since is not None and (not self._changed or now - quiet_since >= self._stable):
                return
            if now - moved >= self._timeout and waiting:
                raise DriverUpgradeError(
                    f"{when}: no driver's upgrade has moved for {self._timeout:g} s; {in_words(waiting)}. "
                    "Next: aks-infiniband doctor, then pulumi up"
                )
            await asyncio.sleep(self._poll)

    async def _tell(self) -> None:
        """Report the progress of the NIC driver's upgrade whenever a node's state has changed."""
        seen: dict[str, str] = {}
        while self._known:
            nodes, unread = await self._nodes({})
            waiting = seen if unread else under_way(nodes, (NIC,))
            if waiting and waiting != seen:
                pulumi.log.info(f"NIC drivers are upgraded one node at a time; {in_words(waiting)}")
            seen = waiting
            await asyncio.sleep(self._poll)

    def _stop_telling(self) -> None:
        for telling in self._telling:
            telling.cancel()

    async def _nodes(self, selector: Mapping[str, str]) -> tuple[list[Node], str]:
        """The nodes with these labels, and why they could not be read."""
        kubeconfig = self._known[-1]

        def read() -> tuple[list[Node], list[str]]:
            from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  a client takes long to load

            every, unread = nodes(kubeconfig, limit_seconds=_LOOK_SECONDS)
            return [*every], unread

        every, unread = await within_limit(read, _LOOK_SECONDS) or ([], ["no answer in time"])
        chosen = [node for node in every if selector.items() <= _labels(node).items()]
        return chosen, "; ".join(unread)
