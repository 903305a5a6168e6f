"""The parts that NVIDIA's Network Operator puts on nodes, for every language: policies, and networks over
InfiniBand.
"""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import Any, NotRequired, TypedDict

import pulumi

from aks_infiniband.operators import existing_network_operator, ipoib, nic_policy
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.provider.arguments import pools_of, taken
from aks_infiniband.provider.inputs import PoolDescription, describes


@describes(OperatorOptions, nic_policy.NicClusterPolicyArgs, without=("policies", "turns"))
class NicClusterPolicyInputs(TypedDict):
    """The inputs of a NicClusterPolicy."""

    pools: list[PoolDescription]
    """All pools with InfiniBand of the cluster. If they differ in driver or device plugin, a NicNodePolicy of each
    holds what the others have not.
    """


def _policies(inputs: Mapping[str, Any]) -> nic_policy.NicPolicySpecs:
    return nic_policy.nic_policy_specs(pools_of(inputs["pools"]), taken(OperatorOptions, inputs))


class NicClusterPolicy(nic_policy.NicClusterPolicy):
    """Driver, device plugin and network plugins on all pools, ready. Give the NetworkOperator as dependsOn."""

    def __init__(self, name: str, args: NicClusterPolicyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = taken(nic_policy.NicClusterPolicyArgs, args, policies=_policies(args))
        super().__init__(name, args=arguments, opts=opts)


@describes(NicClusterPolicyInputs, existing_network_operator.ExistingNetworkOperatorArgs, without=("policies",))
class ExistingNetworkOperatorInputs(TypedDict):
    """The inputs of an ExistingNetworkOperator: the same as the NicClusterPolicy. Without a kubeconfig nothing is
    looked at.
    """


class ExistingNetworkOperator(existing_network_operator.ExistingNetworkOperator):
    """A Network Operator that others keep, once its policies say ready. Nothing of it is made or changed."""

    ready: pulumi.Output[Any]
    """URN of this component, known once the policies are ready."""

    def __init__(
        self, name: str, args: ExistingNetworkOperatorInputs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        arguments = taken(existing_network_operator.ExistingNetworkOperatorArgs, args, policies=_policies(args))
        super().__init__(name, args=arguments, opts=opts)
        self.ready = self.ready.apply(lambda resource: resource.urn)


@describes(NicClusterPolicyInputs, nic_policy.NicNodePolicyArgs, without=("policies", "turns"))
class NicNodePolicyInputs(TypedDict):
    """The inputs of a NicNodePolicy: the same as the NicClusterPolicy, and the pool."""


class NicNodePolicy(nic_policy.NicNodePolicy):
    """Driver or device plugin that one pool has and the others have not. Give the NicClusterPolicy as dependsOn."""

    def __init__(self, name: str, args: NicNodePolicyInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = taken(nic_policy.NicNodePolicyArgs, args, policies=_policies(args))
        super().__init__(name, args=arguments, opts=opts)


@describes(ipoib.IpoibNetworkArgs, without=("network",))
class IpoibNetworkInputs(TypedDict):
    """The inputs of an IpoibNetwork."""

    pools: list[PoolDescription]
    """All pools with InfiniBand of the cluster. The pools in mode ipoib define which networks there are."""
    network: str
    """Name of the network, one of those of the pools."""
    addresses: str
    """Range (CIDR) of the addresses of all networks. Each takes an equal part of it."""
    per_node: NotRequired[int]
    """Addresses of each node, and so the number of its pods that can join the network. Default: 16."""
    gateway: NotRequired[str]
    """Address of a gateway, for the network in whose part it lies. Default: none."""


class IpoibNetwork(ipoib.IpoibNetwork):
    """A network over InfiniBand that pods join by name. Give the NicClusterPolicy as dependsOn."""

    def __init__(self, name: str, args: IpoibNetworkInputs, opts: pulumi.ResourceOptions | None = None) -> None:
        arguments = taken(ipoib.IpoibNetworkArgs, args, network=_network(args))
        super().__init__(name, args=arguments, opts=opts)


def _network(inputs: IpoibNetworkInputs) -> ipoib.Network:
    gateway = IPv4Address(inputs["gateway"]) if "gateway" in inputs else None
    chosen = {"per_node": inputs["per_node"]} if "per_node" in inputs else {}
    made = ipoib.ipoib_networks(pools_of(inputs["pools"]), IPv4Network(inputs["addresses"]), gateway=gateway, **chosen)
    networks = {network.name: network for network in made}
    if inputs["network"] not in networks:
        known = ", ".join(networks) or "none: no pool is in mode ipoib"
        raise ValueError(f"network is {inputs['network']}; must be one of those of the pools ({known})")
    return networks[inputs["network"]]
