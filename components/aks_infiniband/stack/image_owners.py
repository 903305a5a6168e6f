"""A comparison of pools' node images with the owners of their drivers, before any driver is put on a node."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

import pulumi

from aks_infiniband.access.looking import within_limit
from aks_infiniband.diagnosis.view import labelled
from aks_infiniband.facts.node_images import contradictions
from aks_infiniband.facts.pool import Pool

_LIMIT_SECONDS: Final = 30.0


class NodeImageError(pulumi.RunError):
    """Nodes whose image contradicts the owner of a driver; the text names the nodes, and what to do."""


def contradicting(pools: Iterable[Pool], nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The contents that the images have or lack, each with what to do. nodes: of the whole cluster."""
    lacking: dict[str, str] = {}
    for pool in pools:
        for node in labelled(nodes, pool.node_selector):
            lacking |= dict(contradictions(pool, node["metadata"].get("labels") or {}))
    return lacking


def agreed(
    pools: Iterable[Pool], ready: Mapping[str, pulumi.Input[pulumi.Resource]], kubeconfig: pulumi.Input[str]
) -> list[pulumi.Output[pulumi.Resource]]:
    """For depends_on of what puts drivers on nodes: the machines of each pool whose image may have some, once they are
    there and their images were looked at.

    ready: by pool, the resource after which its machines are there; of an existing cluster none. An output fails with
    NodeImageError; if the cluster cannot be read, nothing is held back.
    """
    return [
        pulumi.Output.all(kubeconfig, ready[pool.name]).apply(partial(_looked_at, pool))
        for pool in pools
        if pool.size.nvlink_domain > 1 and pool.name in ready
    ]


async def _looked_at(pool: Pool, known: Sequence[Any]) -> pulumi.Resource:
    kubeconfig, machines = known
    if kubeconfig is None or pulumi.runtime.is_dry_run():
        return cast("pulumi.Resource", machines)
    from aks_infiniband.diagnosis.collect import nodes  # noqa: PLC0415  a client takes long to load

    there = await within_limit(lambda: nodes(kubeconfig, limit_seconds=_LIMIT_SECONDS)[0], _LIMIT_SECONDS)
    lacking = contradicting([pool], there or [])
    if lacking:
        lines = "\n".join(f"  - {what}\n    do: {remedy}" for what, remedy in lacking.items())
        raise NodeImageError(f"no driver was installed, because owners and node image contradict each other:\n{lines}")
    return cast("pulumi.Resource", machines)
