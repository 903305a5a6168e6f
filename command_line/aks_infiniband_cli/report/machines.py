"""The measurements of each machine since a stack's last validation, and the decisions on it."""

from collections.abc import Iterator, Mapping
from typing import Any

from aks_infiniband.terminal import one_line
from aks_infiniband.validation.machines import (
    ACCEPTANCE,
    LIGHT_CHECK,
    Machine,
    Measurement,
    Record,
    current,
    doubt,
    known,
    told,
)
from aks_infiniband.validation.reports import Report


def since(pool: str, report: Report | None, nodes: list[Mapping[str, Any]], record: Record) -> Iterator[dict[str, Any]]:
    """The machines of a pool of which more is known than the stack's report says, or of which it says nothing.

    nodes: of the pool. record: what is known of machines.
    """
    for node in nodes:
        machine = known(node, record, report)
        newest = current(machine, node)
        if not machine.decisions and _says_it_already(machine, newest, node):
            continue
        last = machine.measurements[-1] if machine.measurements else None
        doubted = f"the last measurement ({last.by} on {last.at}) is {doubt(last, node)}" if last else "it never was"
        decision = machine.decisions[-1] if machine.decisions else None
        decided = f"{decision.what} on {decision.at} by {decision.by}" if decision else ""
        yield {
            "pool": pool,
            "node": str(node["metadata"]["name"]),
            "verdict": newest.verdict if newest else "not measured",
            "what": one_line(told(newest) if newest else f"not measured as it is now: {doubted}"),
            "decided": one_line(decided),
        }


def _says_it_already(machine: Machine, newest: Measurement | None, node: Mapping[str, Any]) -> bool:
    """True if the stack's report says of the machine what counts: the light check, which runs every hour or so, has
    found nothing since.
    """
    accepted = any(one.by == ACCEPTANCE and not doubt(one, node) for one in machine.measurements)
    quiet = newest is not None and newest.by == LIGHT_CHECK and newest.verdict == "pass"
    return newest is not None and (newest.by == ACCEPTANCE or (quiet and accepted))


def line(machine: Mapping[str, Any]) -> str:
    """A machine in a line."""
    decided = f"; {machine['decided']}" if machine["decided"] else ""
    return f"  since then: {machine['node']}: {machine['what']}{decided}"
