"""The example that times a step of training on pairs of nodes: the partners, and the nodes that are called slow."""

import runpy
from itertools import chain
from typing import Any

import pytest

from rehearsal.tools.paths import PROJECT

PAIRS = runpy.run_path(str(PROJECT / "examples/jobs/training-step/pairs_of_nodes.py"))
NAMES = [f"node-{number}" for number in range(100)]


def pairs_that_take(nodes: int, milliseconds: Any) -> dict[tuple[int, int], list[float]]:
    """Steps of every pair of every round: as long as the slower of the two takes."""
    every = chain.from_iterable(PAIRS["rounds_of"](nodes))
    return {pair: [max(map(milliseconds, pair)) + step for step in (0.0, 0.2, 0.4)] for pair in every}


@pytest.mark.parametrize("nodes", [3, 4, 7, 16, 100])
def test_each_round_has_every_node_once_and_nobody_meets_a_partner_twice(nodes: int) -> None:
    rounds = PAIRS["rounds_of"](nodes)

    assert len(rounds) == 3
    for pairs in rounds:
        members = list(chain.from_iterable(pairs))
        assert len(members) == len(set(members)) == nodes - nodes % 2
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert len(met) == len(set(met))


def test_two_nodes_are_no_rounds_because_the_pool_is_their_pair() -> None:
    assert PAIRS["rounds_of"](2) == []


@pytest.mark.parametrize("nodes", [3, 4, 16, 100])
def test_a_node_that_is_slow_with_every_partner_is_named_and_its_partners_are_not(nodes: int) -> None:
    pairs = pairs_that_take(nodes, lambda node: 108.0 if node == 2 else 100.0)
    *_, last_pair, slow, next_command = PAIRS["table"](NAMES[:nodes], [108.0], pairs)

    assert last_pair.startswith("  node-")
    assert slow == "node-2 takes 8.0% longer with every partner."
    assert next_command.endswith("aks-infiniband evidence node-2")


def test_nodes_that_differ_by_less_than_the_fields_bad_ones_are_not_named() -> None:
    pairs = pairs_that_take(16, lambda node: 100.0 + node % 4)

    assert PAIRS["table"](NAMES[:16], [103.0], pairs)[-1] == "No node takes 5% longer than the others."


def test_of_two_nodes_the_pools_step_alone_is_printed() -> None:
    assert PAIRS["table"](NAMES[:2], [99.0, 100.0, 103.0], {}) == ["one step on all 2 nodes: 100.0 ms (99.0 to 103.0)"]
