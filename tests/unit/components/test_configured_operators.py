"""The operators, policies, networks and DaemonSets of a stack file, before anything is registered."""

from ipaddress import IPv4Network
from typing import Any

import pytest
from aks_infiniband import SettingsError, Stack, load
from aks_infiniband.operators.network_operator import network_operator_values
from aks_infiniband.resources.registry import PULL_SECRET

from tests.some_pools import H100, HBV4
from tests.unit.components.stack_files import changed, existing, network_of
from tests.unit.components.stack_files import pool as pool_of

KUBECONFIG = "kubeconfig"
ND = {"name": "ndh100", "vmSize": H100, "count": 2}
HB = {"name": "hb", "vmSize": HBV4, "count": 2}


def configured(*pools: Any, credentials: str | None = None, **sections: Any) -> Stack:
    given: dict[str, Any] = {"cluster": {"kubernetesVersion": "1.35"}, "pools": list(pools or (ND, HB)), **sections}
    for operator in ("networkOperator", "gpuOperator"):
        given[operator] = {"valuesFile": None, **given.get(operator, {})}
    stack = {f"aks-infiniband:{key}": value for key, value in given.items()}
    return load({"azure-native:location": "southcentralus", **stack}, credentials=credentials)


def test_without_gpus_there_is_nothing_for_a_gpu_operator() -> None:
    assert configured(HB).gpu_operator(KUBECONFIG) is None
    assert configured().gpu_operator(KUBECONFIG) is not None


def test_helm_values_of_the_gpu_operator_are_no_mistake_where_there_is_none() -> None:
    assert configured(HB, gpuOperator={"values": {"driver": {"enabled": False}}})


@pytest.mark.field_report("A4")
def test_mistakes_in_both_operators_values_are_told_together() -> None:
    contrary = {"nfd": {"enabled": False}}
    with pytest.raises(SettingsError) as refused:
        configured(networkOperator={"values": contrary}, gpuOperator={"values": {"toolkit": {"enabled": False}}})
    keys = ["networkOperator.values.nfd.enabled", "gpuOperator.values.toolkit.enabled"]
    reason = "is False; it must be True: leave it out, or out of valuesFile"
    assert [str(mistake) for mistake in refused.value.mistakes] == [f"aks-infiniband:{key} {reason}" for key in keys]


def test_driver_versions_and_upgrades_reach_both_drivers() -> None:
    stack = configured(
        networkOperator={"driverVersion": "doca9", "upgrade": {"automatic": False, "drainTimeoutSeconds": 60}},
        gpuOperator={"driverVersion": "580.1"},
    )
    ofed = stack.cluster_policy(KUBECONFIG).policies.cluster["ofedDriver"]
    gpu = stack.operators.gpu
    assert gpu is not None
    assert (ofed["version"], gpu.values["driver"]["version"]) == ("doca9", "580.1")
    for policy in (ofed["upgradePolicy"], gpu.values["driver"]["upgradePolicy"]):
        assert (policy["autoUpgrade"], policy["drain"]["timeoutSeconds"]) == (False, 60)


def test_pools_that_differ_get_policies_of_their_own_and_pools_that_agree_none() -> None:
    assert configured().node_policies(KUBECONFIG) == {}
    different = configured(ND, {**HB, "mode": "sriov"}).node_policies(KUBECONFIG)
    assert {name: args.pool_name for name, args in different.items()} == {"ndh100": "ndh100", "hb": "hb"}


def test_pools_in_mode_ipoib_get_a_network_with_the_addresses_of_the_settings() -> None:
    stack = configured(
        ND, {**HB, "mode": "ipoib"}, networkOperator={"ipoib": {"range": "172.20.0.0/16", "addressesPerNode": 32}}
    )
    (args,) = stack.ipoib_networks(KUBECONFIG).values()
    assert args.namespace == "aks-infiniband"
    assert (args.network.subnet, args.network.per_node) == (IPv4Network("172.20.0.0/16"), 32)
    assert [pool.name for pool in args.network.pools] == ["hb"]
    assert configured().ipoib_networks(KUBECONFIG) == {}


def test_nodes_are_prepared_where_asked_for_and_inbox_nodes_always() -> None:
    assert configured().node_preparation(KUBECONFIG) is None
    asked = configured(networkOperator={"nodePreparation": True}).node_preparation(KUBECONFIG)
    assert asked is not None
    assert ([pool.name for pool in asked.pools], asked.memlock) == (["ndh100", "hb"], True)
    inbox = configured(ND, {**HB, "nicDriver": "inbox"}).node_preparation(KUBECONFIG)
    assert inbox is not None
    assert ([pool.name for pool in inbox.pools], inbox.memlock) == (["hb"], False)


def test_peermem_is_loaded_for_aks_own_drivers_only() -> None:
    assert configured().peermem(KUBECONFIG) is None
    loader = configured({**ND, "gpuDriver": "aks"}).peermem(KUBECONFIG)
    assert loader is not None
    assert [pool.name for pool in loader.pools] == ["ndh100"]


@pytest.mark.field_report("C11")
def test_the_registry_of_the_settings_is_everybodys() -> None:
    stack = configured(
        {**ND, "gpuDriver": "aks"},
        credentials="{}",
        registry={"images": "acr.example/mirror", "charts": "oci://acr.example/charts"},
        networkOperator={"nodePreparation": True},
    )
    preparation, loader, gpu = stack.node_preparation(KUBECONFIG), stack.peermem(KUBECONFIG), stack.operators.gpu
    assert preparation is not None
    assert loader is not None
    assert gpu is not None
    for registry in (stack.registry, preparation.registry, loader.registry):
        assert (registry.images, registry.pull_secret) == ("acr.example/mirror", PULL_SECRET)
    assert network_of(stack).values == network_operator_values(stack.pools, registry=stack.registry)
    assert gpu.values["operator"]["repository"] == "acr.example/mirror/nvidia"
    assert stack.policies.cluster["ofedDriver"]["repository"] == "acr.example/mirror/nvidia/mellanox"
    assert network_of(stack).chart.name == "oci://acr.example/charts/network-operator"
    assert gpu.chart.name == "oci://acr.example/charts/gpu-operator"
    assert configured().registry.pull_secret is None


def test_an_existing_clusters_operators_run_where_its_settings_say() -> None:
    whole = existing({**ND, "nodeSelector": {"pool": "ndh100"}})
    assert "affinity" in network_of(load(whole)).values["operator"]
    whole["aks-infiniband:existingCluster"]["systemNodeSelector"] = {"role": "system"}
    assert network_of(load(whole)).values["operator"]["nodeSelector"] == {"role": "system"}
    made = network_of(configured()).values["operator"]
    assert made["nodeSelector"] == {"kubernetes.azure.com/mode": "system"}


@pytest.mark.parametrize("accepted", [True, False])
def test_whether_a_variable_hands_out_gpus_is_the_same_for_the_operator_and_for_aks(*, accepted: bool) -> None:
    given = {"valuesFile": None, "acceptVisibleDevicesEnvvar": accepted}
    by_operator = load(changed(gpuOperator=given)).operators.gpu
    assert by_operator is not None
    assert ("cdi" in by_operator.values) is not accepted
    by_aks = load(changed(gpuOperator=given, pools=[pool_of(gpuDriver="aks")]))
    assert (by_aks.toolkit_hardening(KUBECONFIG) is None) is accepted
