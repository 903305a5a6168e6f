"""IPoIB networks stand on devices that the machines have, and have an address for every pod."""

from ipaddress import IPv4Network
from typing import Any

import pytest

from tests.unit.components.stack_files import changed, loaded, mistakes, named, pool

HB = "Standard_HB176rs_v4"


def ipoib(**more: Any) -> Any:
    return {"mode": "ipoib", "ipoib": more}


def ranges(**sections: Any) -> dict[str, IPv4Network]:
    """The addresses of each network, by its parent interface."""
    return {network.device: network.subnet for network in loaded(**sections).networks}


def test_devices_follow_from_the_size_and_the_number_of_rails() -> None:
    assert loaded(networkOperator=ipoib(rails=2)).pools[0].ipoib_devices == ("ibP257p0s0", "ibP258p0s0")


def test_a_pool_names_its_own_devices_where_it_likes() -> None:
    assert loaded(pools=[pool(mode="ipoib", ipoibDevices=["ib3", "ib4"])]).pools[0].ipoib_devices == ("ib3", "ib4")


def test_no_other_mode_has_ipoib_devices() -> None:
    stack = loaded(networkOperator={"mode": "sriov"})
    assert (stack.pools[0].ipoib_devices, stack.networks) == ((), [])


def test_one_network_has_the_whole_range_and_several_have_equal_parts() -> None:
    assert ranges(networkOperator=ipoib()) == {"ibP257p0s0": IPv4Network("192.168.0.0/16")}
    assert ranges(networkOperator=ipoib(rails=3)) == {
        "ibP257p0s0": IPv4Network("192.168.0.0/18"),
        "ibP258p0s0": IPv4Network("192.168.64.0/18"),
        "ibP259p0s0": IPv4Network("192.168.128.0/18"),
    }


def test_pools_with_the_same_device_share_a_network() -> None:
    assert list(ranges(pools=[named("a", HB), named("b", "Standard_HX176rs")], networkOperator=ipoib())) == [
        "ibP257p0s0"
    ]


@pytest.mark.field_report("B17")
@pytest.mark.parametrize(
    ("given", "pools", "reason"),
    [
        ({"range": "192.168.0.0/27"}, [pool()], "is too small: 2 nodes with addressesPerNode 16 need 32 addresses"),
        ({"range": "192.168.0.0/26"}, [pool(), named("b", HB)], "4 nodes with addressesPerNode 16 need 64 addresses"),
        (
            {"range": "192.168.0.0/24"},
            [pool(autoscale={"minCount": 2, "maxCount": 16})],
            "16 nodes with addressesPerNode 16 need 256 addresses, and it has 254",
        ),
        (
            {"range": "192.168.0.0/26", "rails": 2},
            [pool()],
            "need 32 addresses, and 192.168.0.0/27, the part for the network on ibP257p0s0, has 30",
        ),
        ({"range": "192.168.0.0/31", "rails": 8}, [pool()], "is too small to be split among 8 networks"),
    ],
)
def test_a_range_with_fewer_addresses_than_nodes_and_pods_need_is_refused(given: Any, pools: Any, reason: str) -> None:
    found = mistakes(changed(pools=pools, networkOperator=ipoib(**given)))
    assert list(found) == ["networkOperator.ipoib.range"]
    assert reason in found["networkOperator.ipoib.range"]


def test_a_range_that_just_suffices_is_taken() -> None:
    assert loaded(networkOperator=ipoib(range="192.168.0.0/27", addressesPerNode=15))


def test_fewer_addresses_a_node_than_nv_ipam_takes_are_refused() -> None:
    found = mistakes(changed(networkOperator=ipoib(addressesPerNode=1)))
    assert found == {"networkOperator.ipoib.addressesPerNode": "is 1; must be greater than or equal to 2"}


def test_more_rails_than_hcas_are_refused() -> None:
    found = mistakes(changed(pools=[pool(), named("hb", HB)], networkOperator=ipoib(rails=2)))
    assert list(found) == ["networkOperator.ipoib.rails"]
    assert (
        f"must not be more than the HCAs of a machine: {HB} of pool hb has 1 HCA"
        in found["networkOperator.ipoib.rails"]
    )


@pytest.mark.parametrize("size", ["Standard_HC44rs", "Standard_HB120rs_v2"])
@pytest.mark.field_report("A2b")
def test_a_size_whose_interface_nobody_knows_needs_it_given(size: str) -> None:
    found = mistakes(changed(pools=[pool(vmSize=size)], networkOperator=ipoib()))
    assert list(found) == ["pools[0].ipoibDevices"]
    assert f"needs the interface of an HCA, and that of {size} is not known" in found["pools[0].ipoibDevices"]
    assert loaded(pools=[pool(vmSize=size, ipoibDevices=["ib0"])], networkOperator=ipoib())


@pytest.mark.parametrize(
    ("more", "key", "reason"),
    [
        ({"vmSize": HB, "mode": "ipoib", "ipoibDevices": ["ib0", "ib1"]}, "ipoibDevices", "must list 1 HCA at most"),
        ({"mode": "ipoib", "ipoibDevices": ["ib0", "ib0"]}, "ipoibDevices[1]", "must be listed once"),
        ({"ipoibDevices": ["ib0"]}, "ipoibDevices", "says nothing in mode rdma-shared"),
        ({"mode": "ipoib", "ipoibDevices": ["a b"]}, "ipoibDevices[0]", "must be a network interface of the machine"),
    ],
)
def test_devices_that_cannot_be_are_refused(more: Any, key: str, reason: str) -> None:
    found = mistakes(changed(pools=[pool(**more)]))
    assert list(found) == [f"pools[0].{key}"]
    assert reason in found[f"pools[0].{key}"]


def test_a_gateway_lies_in_a_networks_part_of_the_range() -> None:
    assert loaded(networkOperator=ipoib(gateway="192.168.0.1"))
    outside = mistakes(changed(networkOperator=ipoib(gateway="10.9.0.1")))
    assert "must lie in the part of range that a network has" in outside["networkOperator.ipoib.gateway"]
    spare = mistakes(changed(networkOperator=ipoib(gateway="192.168.255.1", rails=3)))
    assert "192.168.128.0/18" in spare["networkOperator.ipoib.gateway"]
    assert "IPv4 address" in mistakes(changed(networkOperator=ipoib(gateway="x")))["networkOperator.ipoib.gateway"]
