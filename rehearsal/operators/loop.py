"""Both operators, each in its loop: whenever something changed, look, plan, and carry the plan out."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from lightkube.core.async_client import AsyncClient

from rehearsal.operators.carrying_out import carry_out
from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster

log = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 0.1
"""From a change to the look at it, at least: changes come in bursts."""
_RETRY_SECONDS: Final = 1.0
"""Pause after a plan in which something failed, before the next."""


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
_WATCHED: Final = sorted({kind for operator in OPERATORS for kind in operator.watched})


async def run(client: AsyncClient, latencies: Latencies) -> None:
    """Run the operators until cancelled."""
    cluster = Cluster(client, _WATCHED)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(cluster.watch())
        await cluster.wait_listed()
        await _loop(cluster, settle=max(_SETTLE_SECONDS, latencies.seconds("operatorRequeue")))


async def _loop(cluster: Cluster, *, settle: float) -> None:
    while True:
        await asyncio.sleep(settle)
        seen = cluster.version
        if await _step(cluster):
            await cluster.changed_since(seen)
        else:
            await asyncio.sleep(_RETRY_SECONDS)


async def _step(cluster: Cluster) -> bool:
    """One reconcile of every operator; whether all of their plans were carried out."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    snapshot = Snapshot({kind: list(cluster.of(kind).values()) for kind in _WATCHED})
    plans = [(operator.name, operator.reconcile(snapshot, now=now)) for operator in OPERATORS]
    return all([await carry_out(cluster.client, plan, manager=name) for name, plan in plans])
