"""Which end of a pair that falls short is at fault: pure functions over pairs that were measured.

In a ring every HCA is measured with two neighbours. One that is slow with both of them is at fault; one that is not is
cleared, and its peer is left. Where a pair's ends are both suspect or both cleared, each is measured again with an end
that is known to be good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

MODIFIED_Z = 3.5
"""A modified z-score beyond which a value is an outlier (Iglewicz and Hoaglin, "How to Detect and Handle Outliers",
1993), with 0.6745 as the ratio of the median absolute deviation to the standard deviation."""
LEAST_SHARE = 0.03
"""Below this share of the median nothing is an outlier, however alike the others are."""
LEAST_VALUES = 6
"""Among fewer, the median absolute deviation says nothing."""


class End(NamedTuple):
    """One HCA of one node."""

    node: str
    device: str


class Pair(NamedTuple):
    """One measurement: who asked, and who served."""

    client: End
    server: End


class Blame(NamedTuple):
    """What is known of a pair that falls short."""

    pair: Pair
    guilty: tuple[End, ...]
    """One end; both where nothing tells them apart; none where both are good with others."""
    peers: tuple[str, ...] = ()
    """With whom the guilty end falls short."""


def ring(nodes: Sequence[str], devices: Mapping[str, Sequence[str]]) -> list[list[Pair]]:
    """Every HCA with the one of the same name on the next node, and that of the last with the first's.

    One list for each HCA: its pairs are measured at the same time, since each end then sends and receives once.
    """
    if len(nodes) < 2:
        return []
    names = [name for name in devices[nodes[0]] if all(name in devices[node] for node in nodes)]
    # Names that are not on every node are paired where both neighbours have them.
    names += sorted({name for node in nodes for name in devices[node]} - set(names))
    neighbours = list(zip(nodes, [*nodes[1:], nodes[0]]))
    found = [
        [Pair(End(a, name), End(b, name)) for a, b in neighbours if name in devices[a] and name in devices[b]]
        for name in names
    ]
    return [pairs for pairs in found if pairs]


def outliers(values: Mapping[Pair, float], better: str) -> list[Pair]:
    """The pairs whose value is far worse than the others', by median absolute deviation."""
    if len(values) < LEAST_VALUES:
        return []
    middle = _median(list(values.values()))
    spread = _median([abs(value - middle) for value in values.values()])
    sign = 1.0 if better == "lower" else -1.0

    def is_one(value: float) -> bool:
        worse = sign * (value - middle)
        return worse > LEAST_SHARE * middle and 0.6745 * worse > MODIFIED_Z * spread

    return [pair for pair, value in values.items() if is_one(value)]


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def blames(bad: Collection[Pair], good: Collection[Pair]) -> list[Blame]:
    """Who is at fault, of every pair that falls short, as far as the others tell."""
    cleared = {end for pair in good for end in pair}
    found = []
    for pair in bad:
        guilty = tuple(end for end in pair if end not in cleared)
        peers = sorted({_other(other, end).node for end in guilty for other in bad if end in other})
        found.append(Blame(pair, guilty, tuple(peers) if len(guilty) == 1 else ()))
    return found


def further_pairs(bad: Collection[Pair], good: Collection[Pair]) -> list[Pair]:
    """The measurements that would tell the ends apart of those pairs where nothing does yet.

    Each doubtful end, in the part that it had, with an HCA of another node that is known to be good: one of the same
    name before any other.
    """
    cleared = sorted({end for pair in good for end in pair} - {end for pair in bad for end in pair})
    measured = {*bad, *good}
    found: list[Pair] = []
    for blame in blames(bad, good):
        if len(blame.guilty) == 1:
            continue
        for end in blame.pair:
            partners = [other for other in cleared if other.node != end.node]
            partners.sort(key=lambda other: (other.device != end.device, _uses(other, found)))
            if not partners:
                continue
            further = Pair(end, partners[0]) if end == blame.pair.client else Pair(partners[0], end)
            if further not in measured and further not in found:
                found.append(further)
    return found


def _uses(end: End, pairs: Collection[Pair]) -> int:
    return sum(end in pair for pair in pairs)


def _other(pair: Pair, end: End) -> End:
    return pair.server if end == pair.client else pair.client


def rounds(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs in rounds, in each of which every HCA has at most one part."""
    found: list[list[Pair]] = []
    for pair in pairs:
        free = (together for together in found if not {end for taken in together for end in taken} & set(pair))
        target = next(free, None)
        if target is None:
            found.append([pair])
        else:
            target.append(pair)
    return found
