"""What HCAs of one machine take from each other when all are used at once: told, and no fault of any of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .checks import Check, Thresholds, make_check, passes, spread
from .narrowing import LEAST_SHARE, Pair
from .perftest import KINDS
from .rdma import Measured

CHECK = "rdma-contention"
_ASKED = "as much side by side as alone"


class Contention(NamedTuple):
    """What a pair has shown beside the other rails, and alone."""

    side_by_side: float
    alone: float


def contended(measured: Measured, kind: str) -> dict[Pair, Contention]:
    """The pairs that are good alone, and have shown less beside the other rails."""
    (figure,) = KINDS[kind].figures
    found = {}
    for pair in measured.good(kind):
        made, before = measured.tries[kind][pair][-1], measured.side_by_side[kind].get(pair)
        if before and made["values"] and not made["side_by_side"]:
            both = Contention(before[figure], made["values"][figure])
            if both.alone > both.side_by_side * (1 + LEAST_SHARE):
                found[pair] = both
    return found


def judge_contention(measured: Measured, thresholds: Thresholds) -> list[Check]:
    """A check for each figure that was measured on all rails at once. It is never a failure, and no warning either:
    some machines are made so, and a pool that always warned would never have figures to compare later ones with.
    """
    checks = []
    for kind, pairs in measured.side_by_side.items():
        if pairs:
            (figure,) = KINDS[kind].figures
            unit = thresholds.get(figure, {}).get("unit", "Gb/s")
            checks.append(_check(figure, unit, pairs, contended(measured, kind)))
    return checks


def _check(figure: str, unit: str, pairs: Mapping[Pair, Mapping[str, float]], less: Mapping[Pair, Contention]) -> Check:
    if not less:
        return passes(CHECK, _ASKED, f"{spread(values[figure] for values in pairs.values())} {unit}", device=figure)
    together, alone = (spread(both[part] for both in less.values()) for part in (0, 1))
    # An end that was as good beside the others in another pair is not where they meet.
    free = {end for pair in pairs if pair not in less for end in pair}
    ends = [end for pair in less for end in pair]
    where = [end for end in ends if end not in free] or ends
    nodes, devices = (sorted({end[part] for end in where}) for part in (0, 1))
    cause = (
        f"contention on {len(nodes)} nodes ({', '.join(nodes)}), of {', '.join(devices)}: alone each is good, so what "
        "they share is not enough for all, which is a PCIe switch or the memory of the host"
    )
    return make_check(
        CHECK,
        "not judged",
        expected=_ASKED,
        measured=f"{together} {unit} side by side, {alone} {unit} alone",
        device=figure,
        cause=cause,
    )
