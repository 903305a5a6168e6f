"""IPoIB networks: which there are, which addresses they have, and what is made of them."""

from ipaddress import IPv4Network
from typing import Any

from aks_infiniband.operators.ipoib import (
    IpoibNetwork,
    IpoibNetworkArgs,
    Network,
)

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool

WHOLE = IPv4Network("192.168.0.0/16")


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
