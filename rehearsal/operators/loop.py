"""Both operators, each in its loop: whenever something changed, look, plan, and carry the plan out."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lightkube.core.async_client import AsyncClient

from rehearsal.operators.cluster import Cache, carry_out
from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot

log = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 0.1
"""From a change to the look at it: changes come in bursts."""
_RETRY_SECONDS: Final = 1.0
"""From a plan of which something failed to the next."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One operator: its name as field manager, what it watches, and its reconcile."""

    name: str
    watched: Sequence[str]
    reconcile: Callable[..., Plan]


OPERATORS: Final = (
    Operator(name="network-operator", watched=network.WATCHED, reconcile=network.reconcile),
    Operator(name="gpu-operator", watched=gpu.WATCHED, reconcile=gpu.reconcile),
)


async def run(client: AsyncClient) -> None:
    """Run the operators until cancelled."""
    kinds = sorted({kind for operator in OPERATORS for kind in operator.watched})
    cache = Cache(client, kinds)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(cache.keep())
        await _loop(client, cache)


async def _loop(client: AsyncClient, cache: Cache) -> None:
    while True:
        await cache.changed.wait()
        await asyncio.sleep(_SETTLE_SECONDS)
        cache.changed.clear()
        snapshot = cache.snapshot()
        if snapshot is not None and not await _step(client, snapshot):
            await asyncio.sleep(_RETRY_SECONDS)
            cache.changed.set()


async def _step(client: AsyncClient, snapshot: Snapshot) -> bool:
    """One reconcile of every operator; whether all of their plans were carried out."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    plans = [(operator.name, operator.reconcile(snapshot, now=now)) for operator in OPERATORS]
    return all([await carry_out(client, plan, manager=name) for name, plan in plans])
