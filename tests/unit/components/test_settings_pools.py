"""Pools: names, taints, node counts, one fabric a pool, and ordinary pools in addition."""

from typing import Any

import pytest
from aks_infiniband import OrdinaryPool

from tests.unit.components.stack_files import changed, loaded, machines, made, mistakes, named, pool


def wrong(*pools: Any, **sections: Any) -> dict[str, str]:
    return mistakes(changed(pools=list(pools), **sections))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ND-H100", "is 'ND-H100'; must be 1 to 12 lower-case letters and digits, a letter first"),
        ("averylongname1", "must be 1 to 12"),
        ("1nd", "a letter first"),
        ("system", "is the name of the cluster's system pool"),
    ],
)
def test_a_name_that_azure_would_refuse_is_refused(name: str, reason: str) -> None:
    assert reason in wrong(pool(name=name))["pools[0].name"]


def test_two_pools_of_one_name_are_refused() -> None:
    assert wrong(pool(), pool()) == {"pools[1].name": "is 'ndh100'; must be unique: pools[0] has it too"}


def test_two_taints_of_one_key_and_effect_are_refused() -> None:
    found = wrong(pool(taints=["a=b:NoSchedule", "a=b:NoExecute", "a=c:NoSchedule"]))
    assert list(found) == ["pools[0].taints[2]"]
    assert "must not have key and effect in common with 'a=b:NoSchedule'" in found["pools[0].taints[2]"]


def test_labels_below_kubernetes_own_domains_that_a_kubelet_takes_are_taken() -> None:
    assert loaded(pools=[pool(labels={"feature.node.kubernetes.io/x": "y", "example.com/a": "", "plain": "z"})])


def test_a_taint_that_aks_keeps_for_itself_is_refused_but_for_the_one_of_spot_pools() -> None:
    found = wrong(pool(taints=["kubernetes.azure.com/mode=system:NoSchedule"]))
    assert "AKS keeps that prefix for its own taints" in found["pools[0].taints[0]"]
    spot = named("cpu", "Standard_D4s_v5", infiniband=False, priority="Spot")
    assert loaded(pools=[pool(), {**spot, "taints": ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]}])


def test_one_node_cannot_be_validated_across_nodes() -> None:
    assert "must be 2 or more, because a pool is validated across its nodes" in wrong(pool(count=1))["pools[0].count"]
    found = wrong(pool(autoscale={"minCount": 1, "maxCount": 4}))
    assert "must be 2 or more, because a pool is validated across" in found["pools[0].autoscale.minCount"]


def test_one_node_is_enough_where_nothing_is_validated() -> None:
    off = {"mode": "off"}
    assert loaded(pools=[pool(count=1)], validation=off).pools[0].node_count == 1
    assert loaded(pools=[pool(count=1, autoscale={"minCount": 1, "maxCount": 4})], validation=off)


def test_one_node_is_enough_for_an_ordinary_pool() -> None:
    assert loaded(pools=[pool(), {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 1, "infiniband": False}])


@pytest.mark.field_report("A1")
def test_a_pool_larger_than_a_fabric_is_refused() -> None:
    fabric = "must be 100 or fewer with InfiniBand: one placement group, and so one fabric, takes no more"
    assert fabric in wrong(pool(count=101))["pools[0].count"]
    grown = wrong(pool(autoscale={"minCount": 2, "maxCount": 101}))
    assert fabric in grown["pools[0].autoscale.maxCount"]
    assert loaded(pools=[pool(count=100)])


def test_a_subscription_that_was_granted_more_has_larger_fabrics() -> None:
    granted = {"kubernetesVersion": "1.36", "placementGroupLimit": 300, "network": {"podCidr": "10.244.0.0/15"}}
    assert loaded(cluster=granted, pools=[pool(count=300)])
    assert "must be 300 or fewer" in wrong(pool(count=301), cluster=granted)["pools[0].count"]
    assert "cluster.placementGroupLimit" in wrong(pool(), cluster={**granted, "placementGroupLimit": 301})


def test_an_ordinary_pool_may_be_larger_than_a_fabric() -> None:
    assert loaded(pools=[pool(), {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 150, "infiniband": False}])


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


@pytest.mark.field_report("A7")
@pytest.mark.parametrize(
    ("autoscale", "key", "reason"),
    [
        ({"minCount": 0, "maxCount": 4}, "autoscale.minCount", "must be greater than or equal to 1"),
        ({"minCount": 5, "maxCount": 4}, "autoscale.minCount", "must be maxCount, 4, or less"),
        ({"minCount": 3, "maxCount": 4}, "count", "is 2; must be within autoscale's bounds, 3 to 4"),
    ],
)
def test_bounds_of_the_autoscaler_begin_above_zero_and_hold_the_count(autoscale: Any, key: str, reason: str) -> None:
    found = wrong(pool(autoscale=autoscale))
    assert list(found) == [f"pools[0].{key}"]
    assert reason in found[f"pools[0].{key}"]


def test_spot_is_refused_with_a_reason_for_infiniband_and_taken_for_ordinary_pools() -> None:
    assert (
        "an eviction takes one machine out of a job that spans all" in wrong(pool(priority="Spot"))["pools[0].priority"]
    )
    ordinary = {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False, "priority": "Spot"}
    _, (spot, _) = made(loaded(pools=[pool(), ordinary])).pools
    assert isinstance(spot, OrdinaryPool)
    assert spot.priority == "Spot"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mode", "sriov"),
        ("nicDriver", "inbox"),
        ("gpuDriver", "aks"),
        ("ipoibDevices", ["ibP257p0s0"]),
        ("ncclTopology", "topology.xml"),
    ],
)
def test_an_infiniband_key_of_an_ordinary_pool_is_refused(key: str, value: Any) -> None:
    ordinary = {"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False, key: value}
    assert wrong(pool(), ordinary) == {
        f"pools[1].{key}": f"is {value!r}; says nothing for a pool with infiniband: false: leave it out"
    }


def test_a_stack_without_any_infiniband_is_refused() -> None:
    found = wrong({"name": "cpu", "vmSize": "Standard_D4s_v5", "count": 2, "infiniband": False})
    assert found == {"pools": "must hold at least one pool with InfiniBand"}


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
