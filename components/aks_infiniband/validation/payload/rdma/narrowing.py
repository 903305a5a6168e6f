"""The pairs to measure, and the end at fault in a pair that falls short: pure functions.

HCAs are paired by rail and never by name, which differs between images and nodes. In a ring every HCA is measured with
two neighbours. One that is slow with both of them is at fault; one that is not is cleared, and its peer is left. If a
pair's ends are both suspect or both cleared, each is measured again with an end that is known to be good.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from ..say.outliers import crowd_of
from ..talk.steps import Members

LEAST_SHARE = 0.03
"""A value that differs from the median by less than this share is not an outlier, however alike the others are."""
LEAST_VALUES = 6
"""The median absolute deviation needs this many values; with fewer it is meaningless."""


class End(NamedTuple):
    """One HCA of one node."""

    node: str
    device: str


class Pair(NamedTuple):
    """One measurement: its client, and its server."""

    client: End
    server: End


class Blame(NamedTuple):
    """The facts about a pair that falls short."""

    pair: Pair
    guilty: tuple[End, ...]
    """The ends at fault: one; both, if nothing distinguishes them; none, if both are good with others."""
    peers: tuple[str, ...] = ()
    """The ends with which the end at fault falls short."""


Rails = Mapping[str, Mapping[str, str]]
"""By node and device, the rail of every HCA that will be measured."""


def rails_of(members: Members) -> Rails:
    """The rails of all Active HCAs.

    An HCA's rail is its PCI address if all nodes have the same ones (ND sizes have PCI domains 0101 to 0108). Otherwise
    it is the HCA's place in the order of its node's addresses.
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
    """Every HCA paired with the HCA of its rail on the next node that has one. The last node's is paired with the first
    node's.

    There is one list for each rail. Its pairs are measured at the same time, because each end then sends once and
    receives once.
    """
    ends: dict[str, list[End]] = {}
    for node in nodes:
        for device, rail in rails[node].items():
            ends.setdefault(rail, []).append(End(node, device))
    return [
        [Pair(a, b) for a, b in zip(of_rail, [*of_rail[1:], of_rail[0]])]
        for _, of_rail in sorted(ends.items())
        if len(of_rail) > 1
    ]


def wider(rails: Rails, distance: int) -> list[Pair]:
    """Every HCA paired with that of its rail so many places further in the ring, without pairs that the ring has."""
    ends: dict[str, list[End]] = {}
    for node, of_node in rails.items():
        for device, rail in of_node.items():
            ends.setdefault(rail, []).append(End(node, device))
    return [
        Pair(end, of_rail[(place + distance) % len(of_rail)])
        for _, of_rail in sorted(ends.items())
        if 1 < distance < len(of_rail) - 1
        for place, end in enumerate(of_rail)
    ]


def outliers(values: Mapping[Pair, float], better: str) -> list[Pair]:
    """The pairs whose value is far worse than the others', by median absolute deviation."""
    if len(values) < LEAST_VALUES:
        return []
    crowd = crowd_of(values.values())
    sign = 1.0 if better == "lower" else -1.0
    return [pair for pair, value in values.items() if crowd.is_far(sign * (value - crowd.middle), share=LEAST_SHARE)]


def blames(bad: Collection[Pair], good: Collection[Pair]) -> list[Blame]:
    """For every pair that falls short, the ends at fault, as far as the other pairs show."""
    cleared = {end for pair in good for end in pair}
    peers: dict[End, set[str]] = {}
    for pair in bad:
        peers.setdefault(pair.client, set()).add(pair.server.node)
        peers.setdefault(pair.server, set()).add(pair.client.node)
    blamed = []
    for pair in bad:
        guilty = tuple(end for end in pair if end not in cleared)
        blamed.append(Blame(pair, guilty, tuple(sorted(peers[guilty[0]])) if len(guilty) == 1 else ()))
    return blamed


def further_pairs(bad: Collection[Pair], good: Collection[Pair], rails: Rails) -> list[Pair]:
    """The measurements that would show which end is at fault, for the pairs for which it is unknown.

    Each doubtful end plays the part that it had (client or server) with a known good HCA of another node. An HCA of the
    same rail comes before any other.
    """
    cleared = deque(sorted({end for pair in good for end in pair} - {end for pair in bad for end in pair}))
    of_rail: dict[str, deque[End]] = {}
    for end in cleared:
        of_rail.setdefault(_rail(end, rails), deque()).append(end)
    measured = {*bad, *good}
    pairs: dict[Pair, None] = {}
    for blame in blames(bad, good):
        if len(blame.guilty) == 1:
            continue
        for end in blame.pair:
            partner = _next(of_rail.get(_rail(end, rails), cleared), end) or _next(cleared, end)
            if partner is None:
                continue
            further = Pair(end, partner) if end == blame.pair.client else Pair(partner, end)
            if further not in measured:
                pairs[further] = None
    return list(pairs)


def _next(ends: deque[End], end: End) -> End | None:
    """The end on another node that has not been used for the longest time."""
    for _ in range(len(ends)):
        ends.rotate(-1)
        if ends[-1].node != end.node:
            return ends[-1]
    return None


def _rail(end: End, rails: Rails) -> str:
    return rails[end.node][end.device]


def rounds(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """The pairs, in rounds. In each round only one HCA of a node has a part, at most once as client and once as server.

    Then nothing else uses the node's PCIe links and memory. Each pair is in the first round that has room for it.
    """
    every: list[list[Pair]] = []
    taken: dict[object, int] = {}
    """The rounds in which a node, an HCA, and an HCA as client (0) or server (1) has a part. Each round is a bit."""
    for pair in pairs:
        full = 0
        for part, end in enumerate(pair):
            full |= taken.get(end.node, 0) & ~taken.get(end, 0) | taken.get((end, part), 0)
        free = ~full & (full + 1)
        for part, end in enumerate(pair):
            for key in (end.node, end, (end, part)):
                taken[key] = taken.get(key, 0) | free
        number = free.bit_length() - 1
        every += [[]] if number == len(every) else []
        every[number].append(pair)
    return every
