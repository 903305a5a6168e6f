"""IPoIB networks stand on devices that the machines have, and have an address for every pod."""

from ipaddress import IPv4Network
from typing import Any

from tests.unit.components.stack_files import loaded, pool


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
