"""Nodes that are slower than their own pool: pure functions over the figures of pairs.

A node is as good as the best of its pairs, because a bad partner spoils one of them and a bad node all. So one bad node
costs none of its partners anything. The median of the nodes in the pool is good, and their median absolute deviation
decides which distance from it is far.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, TypedDict

from ..say.checks import Check, Details, fails, judged, make_check, not_measured
from ..say.expectations import PairsPlan, limit_of, verdict_on
from ..say.lines import spread
from ..say.outliers import crowd_of
from ..say.steadiness import Spread, is_steady, spread_of
from ..talk.time_left import TIME_IS_UP
from .rounds import rounds_of

if TYPE_CHECKING:
    from typing import NotRequired

CHECK = "all-reduce-pairs"
_UNIT = "GB/s"

WARN_SHARE, FAIL_SHARE = 0.03, 0.05
"""A node that is this share below the pool's median is slow, however alike the others are. In 63 pairs of H100 nodes 53
were within 0.8 % of each other, and the 9 bad ones were 6 to 10 % below them (J. Zhang, NCCL AllReduce Scaling,
2026-03-03).
"""
CONGESTED_SHARE = 0.1
"""A single pair of two good nodes is reported if it is this share below the median (assumed)."""
_LEAST_PAIRS = 2
"""A node needs this many pairs, because one pair does not show which of its two nodes is slow."""


class PairFigure(TypedDict):
    """The bus bandwidth of two nodes in GB/s, its round, and the reason for an absent figure.

    at_fault: if a pair lacks a figure, the node that failed by itself; both nodes, if nothing shows which.
    """

    nodes: list[str]
    round: int
    value: float | None
    error: str | None
    at_fault: list[str]
    spread: NotRequired[Spread | None]
    """Spread of its repetitions."""


class Slow(TypedDict):
    """A node that is slower than its pool: the best of its pairs, all its pairs, and the share that it lacks."""

    node: str
    value: float
    values: list[float]
    spreads: list[Spread]
    lacks: float


def slow_nodes(figures: Sequence[PairFigure]) -> list[Slow]:
    """The nodes that are slow with every partner, the slowest first."""
    by_node = _values(figures)
    best = {node: max(values) for node, values in by_node.items()}
    if not best:
        return []
    crowd = crowd_of(best.values())
    named: list[Slow] = [
        {
            "node": node,
            "value": value,
            "values": by_node[node],
            "spreads": _spreads(figures, node),
            "lacks": 1 - value / crowd.middle,
        }
        for node, value in best.items()
        if len(by_node[node]) >= _LEAST_PAIRS and crowd.is_far(crowd.middle - value, share=WARN_SHARE)
    ]
    return sorted(named, key=lambda slow: slow["value"])


def judge_pairs(figures: Sequence[PairFigure], plan: PairsPlan, nodes: Sequence[str]) -> list[Check]:
    """Checks of the whole pool, of each slow node, and of each slow pair of two good nodes."""
    expected = sum(map(len, rounds_of(nodes, plan["rounds"])))
    values = [figure["value"] for figure in figures if figure["value"] is not None]
    checks = _without_value(figures)
    if len(figures) < expected:
        checks.append(not_measured(CHECK, f"{TIME_IS_UP}: {len(figures)} of {expected} pairs"))
    if not values:
        return checks
    slow = slow_nodes(figures)
    middle = median(max(of_node) for of_node in _values(figures).values())
    checks += [*(_of_node(one, middle) for one in slow), *_congested(figures, slow, middle)]
    return [*checks, _whole(values, middle, plan)] if not checks else [*checks, *_short_of_bound(middle, plan)]


def _values(figures: Sequence[PairFigure]) -> dict[str, list[float]]:
    by_node: dict[str, list[float]] = {}
    for figure in figures:
        for node in figure["nodes"]:
            if figure["value"] is not None:
                by_node.setdefault(node, []).append(figure["value"])
    return by_node


def _spreads(figures: Sequence[PairFigure], node: str) -> list[Spread]:
    """The spreads of a node's pairs, the widest first."""
    spreads = [spread for figure in figures if node in figure["nodes"] and (spread := figure.get("spread"))]
    return sorted(spreads, key=lambda spread: spread["deviation"], reverse=True)


def _of_node(slow: Slow, middle: float) -> Check:
    """A node that is slow with every partner."""
    steady = all(map(is_steady, [spread_of(slow["values"]), *slow["spreads"]]))
    cause = (
        f"{slow['lacks']:.1%} below the pool's median of {middle:.4g} {_UNIT} with each of {len(slow['values'])} "
        f"partners ({spread(slow['values'])}): "
    )
    cause += (
        "it is steadily low, so look at a setting or a part of this node: GPU clocks, PCIe width, HCAs"
        if steady
        else "its figures differ widely, so look at congestion on its links first, and measure again"
    )
    verdict = "fail" if slow["lacks"] > FAIL_SHARE else "warn"
    asked = f"at least {middle * (1 - FAIL_SHARE):.4g} {_UNIT} ({1 - FAIL_SHARE:.0%} of the pool's median)"
    value = slow["value"]
    more: Details = {"unit": _UNIT, "node": slow["node"], "cause": cause, "spread": next(iter(slow["spreads"]), None)}
    return make_check(CHECK, verdict, expected=asked, measured=value, **more)


def _congested(figures: Sequence[PairFigure], slow: Sequence[Slow], middle: float) -> list[Check]:
    """Slow pairs whose two nodes are both good with others."""
    named = {one["node"] for one in slow}
    asked = f"at least {middle * (1 - CONGESTED_SHARE):.4g} {_UNIT}"
    return [
        make_check(
            CHECK,
            "warn",
            expected=asked,
            measured=figure["value"],
            unit=_UNIT,
            cause=f"{' with '.join(figure['nodes'])} in round {figure['round']}, and both are good with others: "
            "congestion between the two, which comes and goes; measure again when the fabric is idle",
        )
        for figure in figures
        if figure["value"] is not None
        and figure["value"] < middle * (1 - CONGESTED_SHARE)
        and not named.intersection(figure["nodes"])
    ]


def _without_value(figures: Sequence[PairFigure]) -> list[Check]:
    """Name the nodes at fault that gave no figure with any partner; else the pairs without a figure."""
    able = _values(figures).keys()
    bad = [figure for figure in figures if figure["value"] is None]
    everybody = {node for figure in figures for node in figure["nodes"]}
    unable: Mapping[str, str | None] = {
        node: figure["error"] for figure in bad for node in figure["at_fault"] if node not in able
    }
    if bad and not able and set(unable) == everybody:
        return [fails(CHECK, "a figure of every pair", bad[0]["error"], "no pair gave a figure: see collective")]
    checks = [
        fails(CHECK, "a figure of every pair", error, "it gave none with any partner", node=node)
        for node, error in unable.items()
    ]
    between = [figure for figure in bad if not set(unable).intersection(figure["nodes"])]
    checks += [
        not_measured(CHECK, f"{' with '.join(figure['nodes'])}: {figure['error']}; both gave figures with others")
        for figure in between
        if able >= set(figure["nodes"])
    ]
    unknown = sorted(everybody - set(able) - set(unable))
    return checks + [
        not_measured(CHECK, "each partner that it had failed, so nothing is known of it", node=node) for node in unknown
    ]


def _whole(values: Sequence[float], middle: float, plan: PairsPlan) -> Check:
    """The check of all pairs if none stands out: against the published figure of two nodes, or against each other."""
    short = _short_of_bound(middle, plan)
    asked = f"no node {WARN_SHARE:.0%} below the pool's median and outside its spread"
    return short[0] if short else make_check(CHECK, "pass", expected=asked, measured=spread(values), unit=_UNIT)


def _short_of_bound(middle: float, plan: PairsPlan) -> list[Check]:
    """The check of the pool's median, if it falls short of what was published of two nodes."""
    bound = plan["threshold"]
    verdict = verdict_on(middle, bound)
    if bound is None or verdict not in ("fail", "warn"):
        return []
    cause = "the median of all pairs is low, so it is not a single node: look at a setting of the pool (see all-reduce)"
    asked = limit_of(bound, "two nodes", level=verdict)
    return [judged(CHECK, verdict, bound, float(f"{middle:.4g}"), asked=asked, cause=cause)]
