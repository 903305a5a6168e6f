"""One node that has changed, measured with a neighbour and judged by what its pool was accepted with."""

from typing import Final

from aks_infiniband.validation.reports import severity

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.deployed import Deployed, Object, expected_of, members_of
from aks_infiniband_cli.validate.documents import Run
from aks_infiniband_cli.validate.nodes import choose, name_of, nodes_of
from aks_infiniband_cli.validate.rendering import Pool
from aks_infiniband_cli.validate.run import Cluster, Say, measure
from aks_infiniband_cli.validate.validating import operators_of, pool_of, read_cluster

_COULD_NOT_BE_MADE: Final = 1
"""The highest severity that counts against a node: 0 is a failure, 1 a check that could not be made, 2 a warning."""


def measured_with_neighbour(
    cluster: Cluster, validation: Deployed, changed: str, say: Say, *, by: str, beside: str | None = None
) -> Pool:
    """The changed node with another of its pool. Raises CommandError if they are not idle.

    by: the command that measures. `beside`: the node label with which a driver's upgrade marks its state. A node that
    is held waits for its upgrade for ever. That need not refuse it here.
    """
    _, nodes, pods = read_cluster(cluster.client, validation.namespace)
    operators = operators_of(cluster.client)
    ready = [_without(beside, node) for node in nodes]
    idle, left_out = choose(ready, pods, validation, wanted=(), include_busy=False, operators=operators)
    mine = [node for node in idle if name_of(node) == changed]
    neighbours = [node for node in idle if name_of(node) != changed]
    if not mine or not neighbours:
        why = "; ".join(f"{left.node}: {left.why}" for left in left_out)
        raise CommandError(f"{changed} cannot be measured with a neighbour: {why}. The nodes that are held stay so")
    run = Run(
        validation=validation,
        nodes=[*mine, neighbours[0]],
        awaited=mine,
        expected=expected_of(validation, 2, {}),
        before=validation.accepted,
        by=by,
    )
    measured = measure(cluster, [run], say)[validation.pool]
    members = members_of(validation, map(name_of, nodes_of(nodes, validation)))
    return pool_of(validation.pool, run, measured, members=members, in_part=True)


def _without(label: str | None, node: Object) -> Object:
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
