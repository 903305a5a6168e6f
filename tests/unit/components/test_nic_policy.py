"""From pools to the Network Operator's policies: what is in which of them, and what never is."""

import json
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
from aks_infiniband.operators.release import DriverUpgrade, OperatorOptions
from aks_infiniband.resources.registry import Registry

from declared.pulumi_mocks import Deploy
from tests.some_pools import A100, GB300, HBV4, pool

CLUSTER = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
NODE = "kubernetes:mellanox.com/v1alpha1:NicNodePolicy"
MODES = ("rdma-shared", "sriov", "ipoib", "dra", "driver-only")
DRIVERS = ("doca-ofed", "inbox")
SPLIT = {"ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"}
"""The sections that either kind of policy can hold."""


def config(spec: Any) -> Any:
    return json.loads(spec["config"])


@pytest.mark.field_report("C9", "A2b")
def test_rdma_shared_hands_out_infiniband_devices_and_never_the_ethernet_one() -> None:
    plugin = nic_policy_specs([pool()]).cluster["rdmaSharedDevicePlugin"]
    assert config(plugin) == {
        "configList": [
            {
                "resourceName": "shared_ib",
                "rdmaHcaMax": 63,
                "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]},
            }
        ]
    }


@pytest.mark.field_report("B14")
def test_sriov_hands_out_rdma_devices_of_infiniband_one_by_one() -> None:
    spec = nic_policy_specs([pool(A100, mode="sriov")]).cluster
    assert config(spec["sriovDevicePlugin"]) == {
        "resourceList": [
            {
                "resourcePrefix": "rdma",
                "resourceName": "ib",
                "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"], "isRdma": True},
            }
        ]
    }
    assert "rdmaSharedDevicePlugin" not in spec


@pytest.mark.field_report("B17")
def test_ipoib_adds_the_network_plugins_and_nv_ipam_to_the_shared_device_plugin() -> None:
    spec = nic_policy_specs([pool(HBV4, mode="ipoib")]).cluster
    assert spec.keys() >= {"rdmaSharedDevicePlugin", "secondaryNetwork", "nvIpam"}
    assert spec["secondaryNetwork"].keys() == {"cniPlugins", "multus", "ipoib"}


@pytest.mark.field_report("C10")
@pytest.mark.parametrize("mode", ["rdma-shared", "sriov", "driver-only"])
def test_no_other_mode_has_a_secondary_network(mode: Any) -> None:
    spec = nic_policy_specs([pool(mode=mode)]).cluster
    assert spec.keys() & {"secondaryNetwork", "nvIpam"} == set()


@pytest.mark.parametrize("driver", DRIVERS)
def test_driver_only_has_no_device_plugin(driver: Any) -> None:
    spec = nic_policy_specs([pool(mode="driver-only", nic_driver=driver)]).cluster
    assert [key for key in spec if key.endswith("DevicePlugin")] == []


def test_the_ofed_container_is_there_in_every_mode_or_in_none() -> None:
    for mode, driver in list(product(MODES, DRIVERS)):
        specs = nic_policy_specs([pool(mode=mode, nic_driver=driver)])
        assert ("ofedDriver" in specs.cluster) == (driver == "doca-ofed")
        assert specs.nodes == {}


@pytest.mark.field_report("B1", "B12")
def test_the_ofed_driver_is_upgraded_one_drained_node_at_a_time_and_avoids_the_blacklist_race() -> None:
    driver = nic_policy_specs([pool()]).cluster["ofedDriver"]
    assert driver["upgradePolicy"]["maxParallelUpgrades"] == 1
    assert driver["upgradePolicy"]["drain"]["enable"] is True
    assert driver["env"] == [
        {"name": "OFED_BLACKLIST_MODULES_FILE", "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf"}
    ]


@pytest.mark.field_report("B12")
def test_the_window_of_an_upgrade_and_its_version_are_settings() -> None:
    options = OperatorOptions(driver_version="doca9", upgrade=DriverUpgrade(automatic=False, drain_timeout_seconds=900))
    driver = nic_policy_specs([pool()], options).cluster["ofedDriver"]
    assert driver["version"] == "doca9"
    assert driver["upgradePolicy"]["autoUpgrade"] is False
    assert driver["upgradePolicy"]["drain"]["timeoutSeconds"] == 900


@pytest.mark.field_report("B16")
def test_the_policy_selects_the_nodes_of_the_stacks_pools_that_carry_an_adapter() -> None:
    affinity = nic_policy_specs([pool(), pool(HBV4, "hb")]).cluster["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    present = {"key": "feature.node.kubernetes.io/pci-15b3.present", "operator": "In", "values": ["true"]}
    assert terms == [
        {"matchExpressions": [present, {"key": "kubernetes.azure.com/agentpool", "operator": "In", "values": [name]}]}
        for name in ("ndh100", "hb")
    ]


@pytest.mark.field_report("B16", "A8")
def test_both_kinds_of_policy_tolerate_the_taints_of_their_pools_by_key() -> None:
    specs = nic_policy_specs([pool(taints=("sku=gpu:NoSchedule",)), pool(HBV4, "hb", mode="sriov")])
    keyed = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}
    assert specs.cluster["tolerations"] == [keyed]
    assert specs.nodes["ndh100"]["tolerations"] == [keyed]
    assert "tolerations" not in specs.nodes["hb"]


def test_telemetry_runs_on_amd64_only() -> None:
    assert "docaTelemetryService" in nic_policy_specs([pool()]).cluster
    assert "docaTelemetryService" not in nic_policy_specs([pool(GB300, "gb")]).cluster
    assert "docaTelemetryService" not in nic_policy_specs([pool(), pool(GB300, "gb")]).cluster


def test_pools_that_agree_need_no_policy_of_their_own() -> None:
    assert nic_policy_specs([pool(), pool(HBV4, "hb", mode="ipoib")]).nodes == {}


@pytest.mark.field_report("B9")
def test_what_pools_differ_in_is_in_their_own_policies_and_what_they_share_in_the_clusters() -> None:
    specs = nic_policy_specs([pool(), pool(HBV4, "hb", mode="sriov")])
    assert SPLIT & specs.cluster.keys() == {"ofedDriver"}
    assert SPLIT & specs.nodes["ndh100"].keys() == {"rdmaSharedDevicePlugin"}
    assert SPLIT & specs.nodes["hb"].keys() == {"sriovDevicePlugin"}
    assert specs.nodes["hb"]["nodeSelector"] == {"kubernetes.azure.com/agentpool": "hb"}


@pytest.mark.field_report("B9")
def test_beside_an_inbox_pool_the_clusters_policy_has_no_ofed_driver() -> None:
    """There it would keep the device plugins off every node without an OFED pod."""
    specs = nic_policy_specs([pool(), pool(HBV4, "hb", nic_driver="inbox")])
    assert "ofedDriver" not in specs.cluster
    assert "rdmaSharedDevicePlugin" in specs.cluster
    assert {name: SPLIT & spec.keys() for name, spec in specs.nodes.items()} == {"ndh100": {"ofedDriver"}}


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


@pytest.mark.field_report("C11")
def test_every_image_of_the_policies_comes_from_the_registry_with_its_pull_secret() -> None:
    registry = Registry(images="acr.example/mirror", pull_secret="creds")
    pools = [pool(mode="ipoib"), pool(HBV4, "hb", mode="sriov", nic_driver="inbox")]
    specs = nic_policy_specs(pools, OperatorOptions(registry=registry))
    images = list(image_specs([specs.cluster, *specs.nodes.values()]))
    assert len(images) == 8
    for image in images:
        assert image["repository"].startswith("acr.example/mirror/nvidia/")
        assert image["imagePullSecrets"] == ["creds"]


def image_specs(value: Any) -> Any:
    if isinstance(value, dict):
        if "image" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from image_specs(item)


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
