"""Nodes two by two."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.validation.payload.collective.nccl_log import read_log
from aks_infiniband.validation.payload.pairs.judge import judge_pairs
from aks_infiniband.validation.payload.pairs.measuring import figure_of
from aks_infiniband.validation.payload.pairs.rounds import rounds_of
from aks_infiniband.validation.payload.say.steadiness import spread_of

from tests.cases import Case, patched
from tests.unit.validation.cases.checks import Outcome, shown

BOUND: Any = {"unit": "GB/s", "better": "higher", "warn": 300.0, "fail": 150.0, "basis": "quoted"}
PLAN: Any = {"bytes": 1 << 33, "seconds": 60, "rounds": 3, "threshold": BOUND}
_HEALTHY: Final = 370.0


def nodes_of(count: int) -> list[str]:
    """Names of nodes."""
    return [f"n{number}" for number in range(count)]


def _figures(count: int, lacks: Mapping[str, Any]) -> list[Any]:
    """Figures of a pool whose pairs have what the weaker node has, and 0.2 % more or less."""
    return [
        {
            "nodes": list(pair),
            "round": number,
            "value": _HEALTHY * (1 - max(lacks.get(node, 0.0) for node in pair)) * (1 + 0.002 * (place % 3 - 1)),
            "error": None,
            "at_fault": [],
        }
        for number, pairs in enumerate(rounds_of(nodes_of(count), 3), start=1)
        for place, pair in enumerate(pairs)
    ]


def outcome_of_pairs(case: Case) -> Outcome:
    """A pool of `nodes`: `lacks` has what nodes lack of their bandwidth, `every` what all do. `pairs` has differences
    of figures by place, `with` those of all figures of a node; both nodes of a pair with an error are at fault. `made`:
    the number of figures. A spread is a list of repetitions.
    """
    count = case["nodes"]
    lacks = {**dict.fromkeys(nodes_of(count), case.get("every", 0.0)), **case.get("lacks", {})}
    figures = _figures(count, lacks)
    for place, figure in enumerate(figures):
        own = [case.get("with", {}).get(node, {}) for node in figure["nodes"]]
        for change in (case.get("pairs", {}).get(place, {}), *own):
            figure |= {key: spread_of(value) if key == "spread" else value for key, value in change.items()}
        figure["at_fault"] = figure["nodes"] if figure["error"] else []
    return shown(judge_pairs(figures[: case.get("made")], PLAN, nodes_of(count)), {})


def outcome_of_partners(case: Case) -> Any:
    """Two nodes a and b that met: each has its failure, a figure, or nothing that came. The figure of the pair, and the
    checks on its nodes next to a healthy pair.
    """
    entries = {node: None if value is None else entry_of(node, value) for node, value in case.items()}
    pair = figure_of(("a", "b"), 1, entries, 1)
    other: Any = {"nodes": ["c", "d"], "round": 1, "value": 1.0, "error": None, "at_fault": []}
    plan: Any = {**PLAN, "rounds": 1}
    checks = judge_pairs([pair, other], plan, ["a", "c", "d", "b"])
    return {"figure": pair, "checks": {each["node"]: each["verdict"] for each in checks if each["node"]}}


def entry_of(node: str, value: Any) -> Any:
    """The result of a node."""
    sizes = [] if isinstance(value, Mapping) else [{"bytes": 1, "bus_gb_per_s": value}]
    failure = {"output": None, "peer": None, "own": True, **value} if isinstance(value, Mapping) else None
    ranks = [{"rank": 0, "gpu": 0, "reached_bytes": 8, "wrong": 0, "failure": failure}] if failure else []
    told = {"node": node, "node_rank": 0, "small": None, "stopped": None, "seconds": 1.0, "evidence": read_log("")}
    return patched(told, {"sizes": sizes, "ranks": ranks})


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {"pairs": outcome_of_pairs, "partners": outcome_of_partners}
