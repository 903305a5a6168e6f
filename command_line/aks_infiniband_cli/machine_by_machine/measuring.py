"""One machine, measured with neighbours of its pool, and judged by what the pool was accepted with."""

from collections.abc import Mapping, Sequence
from typing import Final

from aks_infiniband.validation.reports import severity

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object, expected_of, members_of
from aks_infiniband_cli.validate.documents import Run
from aks_infiniband_cli.validate.nodes import choose, name_of, nodes_of
from aks_infiniband_cli.validate.rendering import Pool
from aks_infiniband_cli.validate.run import Cluster, Measured, Say, measure
from aks_infiniband_cli.validate.validating import operators_of, pool_of, read_cluster

_COULD_NOT_BE_MADE: Final = 1
"""The highest severity that counts against a node: 0 is a failure, 1 a check that could not be made, 2 a warning."""


def measured_together(
    cluster: Cluster,
    validation: Deployed,
    *,
    nodes: Sequence[Object],
    awaited: Sequence[Object],
    pool_nodes: int,
    by: str,
    say: Say,
    tolerations: Sequence[Mapping[str, str]] = (),
) -> tuple[Run, Measured]:
    """The measurement of some nodes of a pool, and its result. Raises CommandError.

    awaited: the nodes that have to be as the pool promises before. pool_nodes: how many nodes the pool has. by: the
    command that measures. tolerations: of the pods, in addition to the deployed ones.
    """
    run = Run(
        validation=validation,
        nodes=nodes,
        awaited=awaited,
        expected=expected_of(validation, len(nodes), {}, pool_nodes=pool_nodes),
        before=validation.accepted,
        tolerations=tolerations,
        by=by,
    )
    return run, measure(cluster, [run], say)[validation.pool]


def measured_with_neighbour(
    cluster: Cluster, validation: Deployed, changed: str, say: Say, *, by: str, unmarked: str = ""
) -> Pool:
    """A node that has changed, with another one of its pool. Raises CommandError if they are not idle.

    unmarked: the node label with which a driver's upgrade marks its state. A node that is held waits for its upgrade
    for ever. That need not refuse it here.
    """
    _, nodes, pods = read_cluster(cluster.client, validation.namespace)
    ready = [_without(unmarked, node) for node in nodes]
    operators = operators_of(cluster.client)
    idle, left_out = choose(ready, pods, validation, wanted=(), include_busy=False, operators=operators)
    mine = [node for node in idle if name_of(node) == changed]
    neighbours = [node for node in idle if name_of(node) != changed]
    if not mine or not neighbours:
        why = "; ".join(f"{left.node}: {left.why}" for left in left_out)
        raise CommandError(f"{changed} cannot be measured with a neighbour: {why}. The nodes that are held stay so")
    there = [name_of(node) for node in nodes_of(nodes, validation)]
    pair = [*mine, neighbours[0]]
    run, measured = measured_together(
        cluster, validation, nodes=pair, awaited=mine, pool_nodes=len(there), by=by, say=say
    )
    return pool_of(validation.pool, run, measured, members=members_of(validation, there), in_part=True)


def _without(label: str, node: Object) -> Object:
    labels = {key: value for key, value in (node["metadata"].get("labels") or {}).items() if key != label}
    return {**node, "metadata": {**node["metadata"], "labels": labels}}


def shortfalls_of(pool: Pool) -> list[str]:
    """Differences from the pool's accepted state: figures that are worse, and checks that fail or could not be made.

    Other warnings do not count: while one node has another driver, the check of versions warns of that.
    """
    if pool.report is None:
        return list(pool.why)
    worse = {
        change.figure: f"{change.now:g} {change.unit}, it was {change.before:g} ({change.change_percent:+g} %)"
        for change in pool.changes
        if change.worse
    }
    failed = {
        check["check"]: check["verdict"] for check in pool.report["checks"] if severity(check) <= _COULD_NOT_BE_MADE
    }
    return [f"{name}: {short}" for name, short in {**failed, **worse}.items()]
