"""The pairs of nodes that train together in each round, and the meaning of their times.

Standard library only, and nothing of aks-infiniband: it runs in the image of the training.
"""

from collections.abc import Mapping, Sequence
from statistics import median

MOST_ROUNDS = 3
"""With three partners a slow node is distinguished from one that had a slow partner."""
SLOWER = 0.05
"""From this share on a node is called slow. The bad ones of published fleets were 6 to 10 % below the others."""

Pair = tuple[int, int]
Steps = Sequence[float]
"""Milliseconds of each step."""


def rounds_of(nodes: int) -> list[list[Pair]]:
    """Rounds of pairs of nodes, by number: the circle method. No node meets a partner twice; of an odd number one
    waits.

    None for two nodes, since the whole pool is their only pair.
    """
    seats: list[int | None] = [*range(nodes), *([None] if nodes % 2 else [])]
    half, rounds = len(seats) // 2, []
    for _ in range(min(MOST_ROUNDS, len(seats) - 1) if nodes > 2 else 0):
        facing = zip(seats[:half], reversed(seats[half:]), strict=True)
        rounds.append([(one, other) for one, other in facing if one is not None and other is not None])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return rounds


def slow_nodes(pairs: Mapping[Pair, Steps]) -> dict[int, float]:
    """Nodes that are slow with every partner, and by which share: a node is as good as its fastest pair."""
    fastest: dict[int, float] = {}
    for pair, steps in pairs.items():
        for node in pair:
            fastest[node] = min(median(steps), fastest.get(node, float("inf")))
    usual = median(fastest.values()) if fastest else 0.0
    return {node: time / usual - 1 for node, time in sorted(fastest.items()) if time > usual * (1 + SLOWER)}


def table(names: Sequence[str], whole: Steps, pairs: Mapping[Pair, Steps]) -> list[str]:
    """The lines of the report: the pool, each pair next to the usual one, and the nodes that are slow.

    names: of the nodes, by number.
    """
    lines = [f"one step on all {len(names)} nodes: {_told(whole)}"]
    usual = median(median(steps) for steps in pairs.values()) if pairs else 0.0
    for (one, other), steps in sorted(pairs.items()):
        beside = f"{median(steps) / usual - 1:+.1%}"
        lines.append(f"  {names[one]} with {names[other]}: {_told(steps)}, {beside} of the usual pair")
    for node, share in slow_nodes(pairs).items():
        lines.append(f"{names[node]} takes {share:.1%} longer with every partner.")
        lines.append(f"  What a support case needs of it: aks-infiniband evidence {names[node]}")
    if pairs and not slow_nodes(pairs):
        lines.append(f"No node takes {SLOWER:.0%} longer than the others.")
    return lines


def _told(steps: Steps) -> str:
    return f"{median(steps):.1f} ms ({min(steps):.1f} to {max(steps):.1f})"
