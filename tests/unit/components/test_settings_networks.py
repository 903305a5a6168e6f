"""Address ranges do not overlap and are large enough for all nodes; a network is ours or belongs to others."""

from typing import Any

import pytest

from tests.unit.components.stack_files import NODE_SUBNET, POD_SUBNET, changed, cluster, loaded, made, mistakes, pool


def wrong(network: Any, **sections: Any) -> dict[str, str]:
    return mistakes(changed(cluster=cluster(network=network), **sections))


@pytest.mark.parametrize(
    ("network", "key", "reason"),
    [
        ({"podCidr": "10.224.0.0/16"}, "podCidr", "must not overlap addressSpace 10.224.0.0/12"),
        ({"serviceCidr": "10.244.8.0/24"}, "serviceCidr", "must not overlap podCidr 10.244.0.0/16"),
        ({"serviceCidr": "10.230.0.0/24"}, "serviceCidr", "must not overlap addressSpace 10.224.0.0/12"),
        ({"subnet": "10.1.0.0/16"}, "subnet", "must lie within addressSpace 10.224.0.0/12"),
        ({"serviceCidr": "172.30.0.0/24"}, "serviceCidr", "overlaps 172.30.0.0/16, which AKS keeps for itself"),
        ({"podCidr": "169.254.0.0/16"}, "podCidr", "overlaps 169.254.0.0/16, which AKS keeps for itself"),
        ({"serviceCidr": "10.0.0.0/29"}, "serviceCidr", "must be a /12 to /27"),
        ({"subnet": "10.224.0.0/29"}, "subnet", "has 3 addresses for nodes; the stack has 4, and an upgrade takes 1"),
        ({"subnet": "10.224.0.1/16"}, "subnet", "must be written by its first address: 10.224.0.0/16"),
        ({"subnet": "10.224.0.0"}, "subnet", "must be an IPv4 range such as 10.224.0.0/16"),
        ({"podCidr": "10.244.0.0/23"}, "podCidr", "has room for 2 nodes, a /24 for each; the stack has 4"),
    ],
)
def test_address_ranges_that_do_not_go_together_are_refused(network: Any, key: str, reason: str) -> None:
    found = wrong(network)
    assert list(found) == [f"cluster.network.{key}"]
    assert reason in found[f"cluster.network.{key}"]


@pytest.mark.field_report("R17")
@pytest.mark.parametrize("key", ["addressSpace", "podCidr", "serviceCidr"])
def test_the_range_in_which_azure_gives_infiniband_adapters_their_addresses_is_refused(key: str) -> None:
    found = wrong({key: "172.16.0.0/16", **({"subnet": "172.16.0.0/20"} if key == "addressSpace" else {})})
    reason = "overlaps 172.16.0.0/16, in which Azure gives InfiniBand adapters their addresses"
    assert reason in found[f"cluster.network.{key}"]


def test_room_is_counted_for_all_that_the_autoscaler_may_add() -> None:
    few = {"podCidr": "10.244.0.0/21"}
    assert loaded(cluster=cluster(network=few))
    found = wrong(few, pools=[pool(autoscale={"minCount": 2, "maxCount": 50})])
    assert "has room for 8 nodes, a /24 for each; the stack has 52" in found["cluster.network.podCidr"]


def test_the_ipoib_range_lies_apart_from_the_clusters_where_it_is_used() -> None:
    ipoib = {"mode": "ipoib", "ipoib": {"range": "10.244.0.0/16"}}
    found = mistakes(changed(networkOperator=ipoib))
    assert found == {
        "networkOperator.ipoib.range": "is '10.244.0.0/16'; must not overlap "
        "aks-infiniband:cluster.network.podCidr 10.244.0.0/16"
    }
    unused = mistakes(changed(networkOperator={**ipoib, "mode": "sriov"}))
    assert "says nothing: no pool has mode ipoib" in unused["networkOperator.ipoib.range"]


def test_an_existing_subnet_stands_for_the_network_that_would_be_made() -> None:
    stack = loaded(cluster=cluster(network={"nodeSubnetId": NODE_SUBNET, "outboundType": "userDefinedRouting"}))
    assert made(stack).settings.network.node_subnet_id == NODE_SUBNET
    found = wrong({"nodeSubnetId": NODE_SUBNET, "addressSpace": "10.224.0.0/12", "subnet": "10.224.0.0/16"})
    assert set(found) == {"cluster.network.addressSpace", "cluster.network.subnet"}
    assert "must be left out with nodeSubnetId" in found["cluster.network.subnet"]


def test_ranges_of_a_network_that_is_not_made_are_not_held_against_others() -> None:
    assert loaded(cluster=cluster(network={"nodeSubnetId": NODE_SUBNET, "podCidr": "10.224.0.0/16"}))


def test_an_existing_subnet_for_pods_needs_one_for_nodes_and_no_overlay() -> None:
    both = {"nodeSubnetId": NODE_SUBNET, "podSubnetId": POD_SUBNET}
    assert loaded(cluster=cluster(network=both))
    assert "needs nodeSubnetId" in wrong({"podSubnetId": POD_SUBNET})["cluster.network.podSubnetId"]
    assert (
        "the cluster does not have an overlay" in wrong({**both, "podCidr": "10.244.0.0/16"})["cluster.network.podCidr"]
    )


@pytest.mark.parametrize("way", ["userAssignedNATGateway", "userDefinedRouting", "none"])
def test_a_way_out_that_has_to_be_prepared_needs_an_existing_subnet(way: str) -> None:
    assert "needs nodeSubnetId: a subnet in which" in wrong({"outboundType": way})["cluster.network.outboundType"]


def test_a_cluster_without_a_way_out_needs_a_mirror_of_the_images() -> None:
    closed = cluster(network={"nodeSubnetId": NODE_SUBNET, "outboundType": "none"})
    assert "name a mirror of them" in mistakes(changed(cluster=closed))["registry.images"]
    assert loaded(cluster=closed, registry={"images": "mirror.azurecr.io/nvidia"})


def test_a_managed_nat_gateway_is_not_offered_because_azure_refuses_it_with_a_given_subnet() -> None:
    found = wrong({"outboundType": "managedNATGateway"})
    assert "did you mean userAssignedNATGateway?" in found["cluster.network.outboundType"]


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("nodeSubnetId", "nodes", "must be the resource ID of a subnet"),
        ("nodeSubnetId", NODE_SUBNET.partition("/subnets")[0], "must be the resource ID of a subnet"),
        ("podSubnetId", "/subscriptions/x/resourceGroups/y", "must be the resource ID of a subnet"),
    ],
)
def test_what_is_no_resource_id_of_a_subnet_is_refused(key: str, value: str, reason: str) -> None:
    assert reason in wrong({key: value})[f"cluster.network.{key}"]
