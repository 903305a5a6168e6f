"""From pools to the Network Operator's policies: what is in which of them, and what never is."""

from itertools import product
from typing import Any

import pulumi
import pytest
from aks_infiniband.operators.nic_policy import (
    NicClusterPolicy,
    NicClusterPolicyArgs,
    NicNodePolicy,
    NicNodePolicyArgs,
    nic_policy_specs,
)
from aks_infiniband.operators.release import OperatorOptions

from declared.pulumi_mocks import Deploy
from tests.some_pools import HBV4, pool

CLUSTER = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
NODE = "kubernetes:mellanox.com/v1alpha1:NicNodePolicy"
MODES = ("rdma-shared", "sriov", "ipoib", "dra", "driver-only")
DRIVERS = ("doca-ofed", "inbox")
SPLIT = {"ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"}
"""The sections that either kind of policy can hold."""


def test_the_ofed_container_is_there_in_every_mode_or_in_none() -> None:
    for mode, driver in list(product(MODES, DRIVERS)):
        specs = nic_policy_specs([pool(mode=mode, nic_driver=driver)])
        assert ("ofedDriver" in specs.cluster) == (driver == "doca-ofed")
        assert specs.nodes == {}


@pytest.mark.field_report("B9")
def test_no_section_is_in_both_kinds_of_policy_whatever_the_pools_and_every_pool_has_all_it_wants() -> None:
    kinds = list(product(MODES, DRIVERS))
    for (mode, driver), (other, other_driver) in product(kinds, kinds):
        pools = [pool(mode=mode, nic_driver=driver), pool(HBV4, "hb", mode=other, nic_driver=other_driver)]
        specs = nic_policy_specs(pools)
        in_nodes = set().union(*(spec.keys() for spec in specs.nodes.values()))
        assert SPLIT & specs.cluster.keys() & in_nodes == set()
        for one_pool in pools:
            alone = nic_policy_specs([one_pool]).cluster
            has = {**specs.cluster, **specs.nodes.get(one_pool.name, {})}
            assert {key: has[key] for key in SPLIT & has.keys()} == {key: alone[key] for key in SPLIT & alone.keys()}


@pytest.mark.field_report("B8", "D8b")
def test_the_nic_cluster_policy_is_waited_for_under_the_one_name_the_operator_watches(deploy: Deploy) -> None:
    def program() -> Any:
        return NicClusterPolicy(
            "policy", args=NicClusterPolicyArgs(policies=nic_policy_specs([pool()]), timeout_seconds=1200)
        ).state

    policy = deploy(program).one(CLUSTER)
    assert policy.inputs["metadata"]["name"] == "nic-cluster-policy"
    annotations = policy.inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"
    assert annotations["pulumi.com/timeoutSeconds"] == "1200"
    assert policy.parent == "policy"


def test_a_node_policy_has_its_pools_name_and_is_waited_for(deploy: Deploy) -> None:
    pools = [pool(), pool(HBV4, "hb", mode="sriov")]

    def program() -> Any:
        args = NicNodePolicyArgs(pool_name="hb", policies=nic_policy_specs(pools), timeout_seconds=9)
        return NicNodePolicy("hb-policy", args=args).state

    policy = deploy(program).one(NODE)
    assert policy.inputs["metadata"]["name"] == "hb"
    assert policy.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"
    assert policy.inputs["spec"] == nic_policy_specs(pools).nodes["hb"]
    assert len(policy.request["hooks"]["onError"]) == 1


def test_a_pool_that_shares_everything_is_told_that_it_needs_no_node_policy(deploy: Deploy) -> None:
    def program() -> Any:
        args = NicNodePolicyArgs(pool_name="ndh100", policies=nic_policy_specs([pool()]), timeout_seconds=9)
        return NicNodePolicy("p", args=args).state

    with pytest.raises(pulumi.RunError, match="pool ndh100 needs no NicNodePolicy"):
        deploy(program)


@pytest.mark.field_report("B7", "D5")
def test_no_change_of_pools_driver_or_mode_gives_the_policy_another_identity(deploy: Deploy) -> None:
    """Name, kind and group are all that the provider replaces a custom resource for."""
    variants = [
        NicClusterPolicyArgs(policies=nic_policy_specs(pools, OperatorOptions(driver_version=version)))
        for version in (None, "doca9")
        for pools in ([pool()], [pool(mode="sriov")], [pool(nic_driver="inbox"), pool(HBV4, "hb")])
    ]
    identities = set()
    for args in variants:
        policy = deploy(lambda given=args: NicClusterPolicy("policy", args=given).state).one(CLUSTER)  # type: ignore[misc]
        identities.add((policy.urn, policy.inputs["metadata"]["name"], policy.inputs["apiVersion"]))
        assert not policy.request.get("deleteBeforeReplace")
        assert not policy.request.get("replaceOnChanges")
    assert len(identities) == 1
