"""Nodes of an existing cluster in great number. The rest is in cases."""

import pytest

from rehearsal.stack import existing_nodes
from tests.simulator.unit.command.cases.states import nodes


def test_a_cluster_of_many_nodes_has_an_address_range_for_each() -> None:
    made = nodes({"pools": [{"name": f"pool{number}", "count": 100} for number in range(3)]}).values()
    addresses = {(node["spec"]["podCIDR"], node["status"]["addresses"][0]["address"]) for node in made}
    assert [len({pair[place] for pair in addresses}) for place in (0, 1)] == [302, 302]


def test_more_nodes_than_a_cluster_takes_are_left_to_the_program_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    assert existing_nodes.MOST_NODES == 5000
    monkeypatch.setattr(existing_nodes, "MOST_NODES", 50)
    assert len(nodes({"pools": [{"count": 10**12}]})) == 50
