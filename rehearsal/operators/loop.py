"""All operators in one loop: whenever something changed, look, plan, and carry the plan out."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Final

from lightkube.core.async_client import AsyncClient

from rehearsal.operators import compute_domains
from rehearsal.operators.amd import reconcile as amd
from rehearsal.operators.carrying_out import carry_out
from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.gpu.attention import Attention
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot
from rehearsal.run.latency import Latencies
from rehearsal.watch.cluster import Cluster

log = logging.getLogger(__name__)

_SETTLE_SECONDS: Final = 0.1
"""The least number of seconds from a change to the look at it, because changes come in bursts."""
_RETRY_SECONDS: Final = 1.0
"""Pause after a plan in which something failed, before the next."""


@dataclass(frozen=True, kw_only=True)
class Operator:
    """One operator: its name as field manager, and its reconcile."""

    name: str
    reconcile: Callable[..., Plan]


_WATCHED: Final = sorted({*network.WATCHED, *gpu.WATCHED, *amd.WATCHED, *compute_domains.WATCHED})


def _operators(attention: Attention) -> tuple[Operator, ...]:
    return (
        Operator(name="network-operator", reconcile=network.reconcile),
        Operator(name="gpu-operator", reconcile=partial(gpu.reconcile, attention=attention)),
        Operator(name="amd-gpu-operator", reconcile=amd.reconcile),
        Operator(name="compute-domain-controller", reconcile=compute_domains.reconcile),
    )


async def run(client: AsyncClient, latencies: Latencies) -> None:
    """Run the operators until cancelled."""
    cluster = Cluster(client, _WATCHED)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(cluster.watch())
        await cluster.wait_listed()
        attention = Attention(every=latencies.seconds("upgradeRequeue"), clock=time.monotonic)
        settle = max(_SETTLE_SECONDS, latencies.seconds("operatorRequeue"))
        await _loop(cluster, _operators(attention), settle=settle, longest=attention.every)


async def _loop(cluster: Cluster, operators: Sequence[Operator], *, settle: float, longest: float) -> None:
    """longest: seconds after which it looks although nothing has changed."""
    while True:
        await asyncio.sleep(settle)
        seen = cluster.version
        if await _step(cluster, operators):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(cluster.changed_since(seen), longest)
        else:
            await asyncio.sleep(_RETRY_SECONDS)


async def _step(cluster: Cluster, operators: Sequence[Operator]) -> bool:
    """One reconcile of every operator; whether all of their plans were carried out."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    snapshot = Snapshot({kind: list(cluster.of(kind).values()) for kind in _WATCHED})
    plans = [(operator.name, operator.reconcile(snapshot, now=now)) for operator in operators]
    return all([await carry_out(cluster.client, plan, manager=name) for name, plan in plans])
