"""IPoIB networks: which there are, which addresses they have, and what is made of them."""

import json
from ipaddress import IPv4Address, IPv4Network
from typing import Any

import pytest
from aks_infiniband.facts.pool import network_name
from aks_infiniband.operators.ipoib import (
    IpoibNetwork,
    IpoibNetworkArgs,
    Network,
    ip_pool_spec,
    ipoib_network_spec,
    ipoib_networks,
)

from declared.pulumi_mocks import Deploy
from tests.some_pools import HBV4, pool

WHOLE = IPv4Network("192.168.0.0/16")
RAILS = {"ibP257p0s0": IPv4Network("192.168.0.0/17"), "ibP258p0s0": IPv4Network("192.168.128.0/17")}


def network(**more: Any) -> Network:
    given = {
        "name": "aks-infiniband",
        "device": "ibP257p0s0",
        "subnet": WHOLE,
        "per_node": 16,
        "pools": (pool(mode="ipoib"),),
        **more,
    }
    return Network(**given)


def test_the_guides_parent_device_gives_the_guides_name_and_every_other_its_own() -> None:
    assert network_name("ibP257p0s0") == "aks-infiniband"
    assert network_name("ibP258p0s0") == "aks-infiniband-ibp258p0s0"


def test_each_rail_is_a_network_with_addresses_of_its_own() -> None:
    names, devices = ("aks-infiniband", "aks-infiniband-ibp258p0s0"), tuple(RAILS)
    two = pool(mode="ipoib", ipoib_networks=names, ipoib_devices=devices)
    found = ipoib_networks([two], WHOLE, per_node=8)
    assert [(item.name, item.device, item.subnet) for item in found] == [
        (name, device, RAILS[device]) for name, device in zip(names, devices, strict=True)
    ]
    assert {item.per_node for item in found} == {8}


def test_pools_on_the_same_parent_device_share_a_network_and_other_pools_are_in_none() -> None:
    pools = [pool(mode="ipoib"), pool(HBV4, "hb", mode="ipoib"), pool(HBV4, "plain")]
    (only,) = ipoib_networks(pools, WHOLE, per_node=8)
    assert [chosen.name for chosen in only.pools] == ["ndh100", "hb"]


def test_the_gateway_is_that_of_the_network_in_whose_range_it_lies() -> None:
    names, devices = ("aks-infiniband", "aks-infiniband-ibp258p0s0"), tuple(RAILS)
    two = pool(mode="ipoib", ipoib_networks=names, ipoib_devices=devices)
    found = ipoib_networks([two], WHOLE, per_node=8, gateway=IPv4Address("192.168.128.1"))
    assert [item.gateway for item in found] == [None, IPv4Address("192.168.128.1")]


@pytest.mark.field_report("B17")
def test_every_node_of_the_networks_pools_gets_a_block_of_addresses_and_no_other_node() -> None:
    spec = ip_pool_spec(network())
    assert spec["subnet"] == "192.168.0.0/16"
    assert spec["perNodeBlockSize"] == 16
    assert spec["nodeSelector"]["nodeSelectorTerms"] == [
        {"matchExpressions": [{"key": "kubernetes.azure.com/agentpool", "operator": "In", "values": ["ndh100"]}]}
    ]
    assert "gateway" not in spec


def test_a_gateway_is_written_where_there_is_one() -> None:
    assert ip_pool_spec(network(gateway=IPv4Address("192.168.0.1")))["gateway"] == "192.168.0.1"


@pytest.mark.field_report("B17")
def test_the_network_takes_its_addresses_from_the_pool_of_its_own_name() -> None:
    spec = ipoib_network_spec(network(), namespace="apps")
    assert spec["master"] == "ibP257p0s0"
    assert spec["networkNamespace"] == "apps"
    assert json.loads(spec["ipam"]) == {"type": "nv-ipam", "poolName": "aks-infiniband"}


def test_the_component_makes_the_addresses_first_and_waits_for_the_network(deploy: Deploy) -> None:
    def program() -> Any:
        args = IpoibNetworkArgs(network=network(), namespace="aks-infiniband", timeout_seconds=60)
        return IpoibNetwork("ipoib", args=args).attachment

    deployment = deploy(program)
    addresses = deployment.one("kubernetes:nv-ipam.nvidia.com/v1alpha1:IPPool")
    attached = deployment.one("kubernetes:mellanox.com/v1alpha1:IPoIBNetwork")
    assert addresses.inputs["metadata"]["namespace"] == "network-operator", "NV-IPAM looks nowhere else"
    assert addresses.name in attached.dependencies
    assert attached.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"
    assert deployment.result == "aks-infiniband/aks-infiniband"
    assert all(len(item.request["hooks"]["onError"]) == 1 for item in (addresses, attached))
