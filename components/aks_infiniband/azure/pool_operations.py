"""Pools side by side, or one at a time."""

from collections.abc import Callable, Mapping
from typing import Literal, TypeVar

import pulumi

from aks_infiniband.azure.node_pool import InfinibandNodePool, OrdinaryNodePool

NodePool = TypeVar("NodePool", bound=InfinibandNodePool | OrdinaryNodePool)


def make_pools(
    makers: Mapping[str, Callable[[pulumi.ResourceOptions], NodePool]],
    *,
    operations: Literal["parallel", "serial"],
    opts: pulumi.ResourceOptions,
) -> dict[str, NodePool]:
    """Make every pool, in the order given.

    makers: by name, what makes a pool with the options it is given.
    operations: parallel: all at once, and Azure's conflicts are waited out; serial: each after the one before is
        Succeeded, for subscriptions where Azure takes no two at a time. Removed pools then go one at a time, too.
    opts: options of every pool.
    """
    made: dict[str, NodePool] = {}
    before: list[pulumi.Input[pulumi.Resource]] = []
    for name, make in makers.items():
        made[name] = make(pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=list(before))))
        if operations == "serial":
            before = [made[name].ready]
    return made
