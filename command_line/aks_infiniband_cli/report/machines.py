"""What was measured of each machine since a stack's last validation, and what was decided of it."""

from collections.abc import Iterator, Mapping
from typing import Any

from aks_infiniband.terminal import one_line
from aks_infiniband.validation.machines import ACCEPTANCE, Record, current, doubt, known, told
from aks_infiniband.validation.reports import Report


def since(pool: str, report: Report | None, nodes: list[Mapping[str, Any]], record: Record) -> Iterator[dict[str, Any]]:
    """The machines of a pool of which more is known than the stack's report says, or of which it says nothing.

    nodes: of the pool. record: what is known of machines.
    """
    for node in nodes:
        machine = known(node, record, report)
        newest = current(machine, node)
        if newest is not None and newest.by == ACCEPTANCE and not machine.decisions:
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


def line(machine: Mapping[str, Any]) -> str:
    """A machine in a line."""
    decided = f"; {machine['decided']}" if machine["decided"] else ""
    return f"  since then: {machine['node']}: {machine['what']}{decided}"
