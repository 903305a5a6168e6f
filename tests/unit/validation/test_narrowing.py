"""The end at fault for a pair that falls short: by its second neighbour, by an outlier, by further pairs."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.rdma.narrowing import (
    End,
    Pair,
    blames,
    further_pairs,
    outliers,
    rails_of,
    ring,
    rounds,
)

RAILS = {node: {"ib0": "0", "ib1": "1"} for node in "abcd"}


def pair(client: str, server: str, device: str = "ib0", peer: str | None = None) -> Pair:
    return Pair(End(client, device), End(server, peer or device))


def test_in_a_ring_every_hca_is_client_once_and_server_once() -> None:
    found = ring(["a", "b", "c"], RAILS)
    assert found == [
        [pair("a", "b"), pair("b", "c"), pair("c", "a")],
        [pair("a", "b", "ib1"), pair("b", "c", "ib1"), pair("c", "a", "ib1")],
    ]


def test_two_nodes_measure_each_other_and_one_node_nobody() -> None:
    assert ring(["a", "b"], {"a": {"ib0": "0"}, "b": {"ib0": "0"}}) == [[pair("a", "b"), pair("b", "a")]]
    assert ring(["a"], {"a": {"ib0": "0"}}) == []


def test_where_a_node_lacks_a_device_its_neighbours_measure_theirs_with_each_other() -> None:
    assert ring(["a", "b", "c"], {**RAILS, "b": {"ib0": "0"}})[1] == [pair("a", "c", "ib1"), pair("c", "a", "ib1")]


def member(*inactive: str, **devices: str) -> Any:
    return {"devices": devices, "inactive": list(inactive)}


@pytest.mark.field_report("R5")
def test_a_rail_is_a_pci_address_where_that_means_the_same_on_every_node() -> None:
    shifted = {
        "a": member(mlx5_0="0101:00:00.0", mlx5_1="0102:00:00.0"),
        "b": member(mlx5_1="0101:00:00.0", mlx5_2="0102:00:00.0"),
        "c": member(mlx5_0="0102:00:00.0"),
    }
    rails = rails_of(shifted)
    assert ring(["a", "b"], rails) == [
        [pair("a", "b", "mlx5_0", "mlx5_1"), pair("b", "a", "mlx5_1", "mlx5_0")],
        [pair("a", "b", "mlx5_1", "mlx5_2"), pair("b", "a", "mlx5_2", "mlx5_1")],
    ]
    assert rails["c"] == {"mlx5_0": "0102:00:00.0"}


@pytest.mark.field_report("R5")
def test_where_every_node_has_addresses_of_its_own_their_order_makes_the_rails() -> None:
    own = {
        "a": member(mlx5_0="b1c0:00:02.0", mlx5_1="9f33:00:02.0"),
        "b": member(ibP57247p0s2="df9f:00:02.0", ibP7p0s2="0007:00:02.0"),
    }
    assert rails_of(own) == {"a": {"mlx5_1": "0", "mlx5_0": "1"}, "b": {"ibP7p0s2": "0", "ibP57247p0s2": "1"}}


def test_an_hca_whose_port_is_down_has_no_pair_and_shifts_no_other() -> None:
    members = {
        "a": member("mlx5_0", mlx5_0="0001:00:02.0", mlx5_1="0005:00:02.0"),
        "b": member(mlx5_0="0003:00:02.0", mlx5_1="0004:00:02.0"),
    }
    assert rails_of(members) == {"a": {"mlx5_1": "1"}, "b": {"mlx5_0": "0", "mlx5_1": "1"}}


def test_an_hca_that_falls_short_with_both_neighbours_is_at_fault_and_they_are_not() -> None:
    bad = [pair("a", "b"), pair("b", "c")]
    good = [pair("c", "d"), pair("d", "a")]
    for blame in blames(bad, good):
        assert blame.guilty == (End("b", "ib0"),)
        assert blame.peers == ("a", "c")


def test_two_nodes_of_one_hca_cannot_be_told_apart() -> None:
    bad = [pair("a", "b"), pair("b", "a")]
    assert {blame.guilty for blame in blames(bad, [])} == {
        (End("a", "ib0"), End("b", "ib0")),
        (End("b", "ib0"), End("a", "ib0")),
    }
    assert further_pairs(bad, [], RAILS) == []


def test_with_more_hcas_each_doubtful_one_is_measured_with_a_good_one_of_another_node() -> None:
    bad = [pair("a", "b"), pair("b", "a")]
    good = [pair("a", "b", "ib1"), pair("b", "a", "ib1")]
    further = further_pairs(bad, good, RAILS)
    assert pair("a", "b", "ib0", "ib1") in further
    assert pair("b", "a", "ib0", "ib1") in further
    after = blames([*bad, pair("a", "b", "ib0", "ib1")], [*good, pair("b", "a", "ib0", "ib1")])
    assert {blame.guilty for blame in after if blame.pair in bad} == {(End("a", "ib0"),)}


def test_a_pair_whose_ends_are_good_with_others_is_a_fault_of_the_path() -> None:
    bad = [pair("a", "b")]
    good = [pair("b", "c"), pair("c", "d"), pair("d", "a")]
    assert blames(bad, good)[0].guilty == ()
    assert further_pairs(bad, good, RAILS) == [pair("a", "c"), pair("d", "b")]


def test_an_outlier_is_far_from_the_median_and_by_more_than_a_few_per_cent() -> None:
    values = {pair(f"n{n}", f"n{n + 1}"): 391.0 + n / 10 for n in range(8)}
    assert outliers(values, "higher") == []
    slow = pair("n3", "n4")
    assert outliers({**values, slow: 370.0}, "higher") == [slow]
    assert outliers({**values, slow: 420.0}, "higher") == [], "better than the others is no fault"
    assert outliers({**values, slow: 420.0}, "lower") == [slow]


def test_among_few_values_or_equal_ones_nothing_is_an_outlier_by_chance() -> None:
    few = {pair("a", "b"): 391.0, pair("b", "c"): 391.0, pair("c", "a"): 350.0}
    assert outliers(few, "higher") == []
    equal = {pair(f"n{n}", f"n{n + 1}"): 391.0 for n in range(8)}
    assert outliers({**equal, pair("n0", "n1"): 390.0}, "higher") == []


@pytest.mark.parametrize("count", [1, 2, 5])
def test_in_a_round_every_hca_is_client_once_and_server_once_at_most(count: int) -> None:
    pairs = [pair("good", f"n{n}") for n in range(count)] + [pair("x", "y")]
    found = rounds(pairs)
    assert sorted(pair for together in found for pair in together) == sorted(pairs)
    for together in found:
        for part in (0, 1):
            ends = [pair[part] for pair in together]
            assert len(ends) == len(set(ends))


def test_in_a_round_a_node_uses_one_hca_so_that_nothing_else_loads_its_pcie_and_memory() -> None:
    nodes = ["a", "b", "c", "d"]
    rails = ring(nodes, RAILS)
    assert rounds([pair for pairs in rails for pair in pairs]) == rails
    crossed = [pair("a", "b", "ib0", "ib1"), pair("b", "c"), pair("c", "d", "ib1")]
    assert rounds(crossed) == [[crossed[0], crossed[2]], [crossed[1]]]
