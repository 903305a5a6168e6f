"""Who is measured with whom, and which end of a pair that falls short is at fault: pure functions.

HCAs are paired by rail and never by name, which differs between images and nodes. In a ring every HCA is measured with
two neighbours. One that is slow with both of them is at fault; one that is not is cleared, and its peer is left. Where
a pair's ends are both suspect or both cleared, each is measured again with an end that is known to be good.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .rendezvous import Members

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


Rails = Mapping[str, Mapping[str, str]]
"""By node and device, the rail of every HCA that is to be measured."""


def rails_of(members: Members) -> Rails:
    """The rails of all Active HCAs.

    An HCA's rail is its PCI address where that means the same on every node (on ND sizes, PCI domains 0101 to 0108),
    else its place in the order of its node's addresses.
    """
    addresses = {address for member in members.values() for address in member["devices"].values()}
    alike = len(addresses) == max((len(member["devices"]) for member in members.values()), default=0)
    rails = {
        node: {
            device: address if alike else str(place)
            for place, (device, address) in enumerate(sorted(member["devices"].items(), key=lambda item: item[1]))
        }
        for node, member in members.items()
    }
    return {
        node: {device: rail for device, rail in of_node.items() if device not in members[node]["inactive"]}
        for node, of_node in rails.items()
    }


def ring(nodes: Sequence[str], rails: Rails) -> list[list[Pair]]:
    """Every HCA with the one of its rail on the next node that has one, and that of the last with the first's.

    One list for each rail: its pairs are measured at the same time, since each end then sends and receives once.
    """
    ends: dict[str, list[End]] = {}
    for node in nodes:
        for device, rail in rails[node].items():
            ends.setdefault(rail, []).append(End(node, device))
    return [
        [Pair(a, b) for a, b in zip(found, [*found[1:], found[0]])]
        for _, found in sorted(ends.items())
        if len(found) > 1
    ]


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


def further_pairs(bad: Collection[Pair], good: Collection[Pair], rails: Rails) -> list[Pair]:
    """The measurements that would tell the ends apart of those pairs where nothing does yet.

    Each doubtful end, in the part that it had, with an HCA of another node that is known to be good: one of the same
    rail before any other.
    """
    cleared = sorted({end for pair in good for end in pair} - {end for pair in bad for end in pair})
    measured = {*bad, *good}
    found: list[Pair] = []
    for blame in blames(bad, good):
        if len(blame.guilty) == 1:
            continue
        for end in blame.pair:
            partners = [other for other in cleared if other.node != end.node]
            partners.sort(key=lambda other: (_rail(other, rails) != _rail(end, rails), _uses(other, found)))
            if not partners:
                continue
            further = Pair(end, partners[0]) if end == blame.pair.client else Pair(partners[0], end)
            if further not in measured and further not in found:
                found.append(further)
    return found


def _rail(end: End, rails: Rails) -> str:
    return rails[end.node][end.device]


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
