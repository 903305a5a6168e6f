"""Address ranges do not overlap and are large enough for all nodes; a network is ours or belongs to others."""

from typing import Any

from tests.unit.components.stack_files import NODE_SUBNET, changed, cluster, loaded, made, mistakes


def wrong(network: Any, **sections: Any) -> dict[str, str]:
    return mistakes(changed(cluster=cluster(network=network), **sections))


def test_an_existing_subnet_stands_for_the_network_that_would_be_made() -> None:
    stack = loaded(cluster=cluster(network={"nodeSubnetId": NODE_SUBNET, "outboundType": "userDefinedRouting"}))
    assert made(stack).settings.network.node_subnet_id == NODE_SUBNET
    found = wrong({"nodeSubnetId": NODE_SUBNET, "addressSpace": "10.224.0.0/12", "subnet": "10.224.0.0/16"})
    assert set(found) == {"cluster.network.addressSpace", "cluster.network.subnet"}
    assert "must be left out with nodeSubnetId" in found["cluster.network.subnet"]
