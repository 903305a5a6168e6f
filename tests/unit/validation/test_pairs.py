"""Nodes two by two: the partners and the steps; tests/unit/validation/cases/pairs.yaml has the node that is named."""

from collections import Counter
from typing import Any

from aks_infiniband.validation.payload.pairs.measuring import measure
from aks_infiniband.validation.payload.pairs.part import carry_out
from aks_infiniband.validation.payload.pairs.rounds import rounds_of

from tests.unit.validation.cases.pairing import PLAN, entry_of, nodes_of


def test_nobody_has_two_partners_at_once_or_the_same_one_twice() -> None:
    for count in [2, 3, 4, 5, 16, 17, 100, 300]:
        rounds = rounds_of(nodes_of(count), 3)
        assert len(rounds) == min(3, count - 1 + count % 2)
        for pairs in rounds:
            assert max(Counter(node for pair in pairs for node in pair).values()) == 1
            assert len(pairs) == count // 2
        met = [frozenset(pair) for pairs in rounds for pair in pairs]
        assert len(met) == len(set(met))


class Lead:
    """A leading pod whose pool answers well, and whose time is up after so many steps."""

    def __init__(self, count: int, steps: int) -> None:
        self.members: Any = {node: {} for node in nodes_of(count)}
        self.replaced: dict[str, int] = {}
        self.asked: list[Any] = []
        self._steps = steps

    @property
    def time_is_up(self) -> bool:
        return len(self.asked) >= self._steps

    def step(self, step: Any) -> Any:
        self.asked.append(step)
        return {node: entry_of(node, 370.0) for pair in step["node_pairs"] for node in pair}


def test_a_pool_of_a_hundred_takes_three_steps_of_fifty_pairs_each_with_its_own_meeting_point() -> None:
    lead: Any = Lead(100, 10)
    found = measure(lead, {"ranks_per_node": 8, "sizes": [8, 16]}, PLAN)  # type: ignore[typeddict-item]
    assert [len(step["node_pairs"]) for step in lead.asked] == [50, 50, 50]
    assert all(len(step["meetings"]) == 50 for step in lead.asked)
    assert {tuple(step["plan"]["sizes"]) for step in lead.asked} == {(PLAN["bytes"],)}
    assert [(figure["value"], figure["error"]) for figure in found] == [(370.0, None)] * 150


def test_a_node_without_a_partner_waits_for_the_next_round(tmp_path: Any) -> None:
    step: Any = {"node_pairs": [("a", "b")], "meetings": [""], "plan": {}}
    assert carry_out(step, {"a": {}, "b": {}, "c": {}}, "c", folder=tmp_path, environment={}) is None
