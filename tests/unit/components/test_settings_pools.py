"""Pools: names, taints, node counts, one fabric a pool, and ordinary pools in addition."""

from typing import Any

import pytest
from aks_infiniband import OrdinaryPool

from tests.unit.components.stack_files import changed, loaded, machines, made, mistakes, named, pool


def wrong(*pools: Any, **sections: Any) -> dict[str, str]:
    return mistakes(changed(pools=list(pools), **sections))


def test_one_node_is_enough_where_nothing_is_validated() -> None:
    off = {"mode": "off"}
    assert loaded(pools=[pool(count=1)], validation=off).pools[0].node_count == 1
    assert loaded(pools=[pool(count=1, autoscale={"minCount": 1, "maxCount": 4})], validation=off)


@pytest.mark.field_report("A3b")
def test_a_pool_across_zones_is_refused() -> None:
    found = wrong(pool(zones=["1", "2"]))
    assert found == {
        "pools[0].zones": "is ['1', '2']; must be one zone at most with InfiniBand: a fabric does not span zones; "
        "give each zone its own pool"
    }
    assert machines(loaded(pools=[pool(zones=["2"])]))["ndh100"].zones == ("2",)
    ordinary = {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False, "zones": ["1", "2", "3"]}
    assert loaded(pools=[pool(), ordinary])


def test_spot_is_refused_with_a_reason_for_infiniband_and_taken_for_ordinary_pools() -> None:
    assert (
        "an eviction takes one machine out of a job that spans all" in wrong(pool(priority="Spot"))["pools[0].priority"]
    )
    ordinary = {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False, "priority": "Spot"}
    _, (spot, _) = made(loaded(pools=[pool(), ordinary])).pools
    assert isinstance(spot, OrdinaryPool)
    assert spot.priority == "Spot"


def test_pools_of_many_kinds_stand_side_by_side() -> None:
    stack = loaded(
        pools=[
            pool(autoscale={"minCount": 2, "maxCount": 8}, labels={"team": "a"}, taints=["gpu=yes:NoSchedule"]),
            named("nda100", "Standard_ND96asr_v4", mode="sriov"),
            named("hbv4", "Standard_HB176rs_v4", mode="ipoib", zones=["1"]),
            {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 1, "infiniband": False},
        ]
    )
    assert [found.name for found in stack.pools] == ["ndh100", "nda100", "hbv4"]
