"""What the settings make of operators, policies, networks and DaemonSets, before anything is registered."""

from ipaddress import IPv4Network
from typing import Any

import pytest
from aks_infiniband.facts.pool import Pool
from aks_infiniband.operators.charts import ValuesError
from aks_infiniband.stack.operators import Operators, configure
from aks_infiniband.stack.settings import Settings, load

from tests.some_pools import H100, HBV4, pool

KUBECONFIG = "kubeconfig"


def settings(**sections: Any) -> Settings:
    given: dict[str, Any] = {
        "cluster": {"kubernetesVersion": "1.35"},
        "pools": [{"name": "ndh100", "vmSize": H100, "count": 2}, {"name": "hb", "vmSize": HBV4, "count": 2}],
        "networkOperator": {},
        "gpuOperator": {},
        **sections,
    }
    for operator in ("networkOperator", "gpuOperator"):
        given[operator] = {"valuesFile": None, **given[operator]}
    region = {"azure-native:location": "southcentralus"} if given["cluster"] else {}
    return load(
        {
            **region,
            **{f"aks-infiniband:{key}": value for key, value in given.items() if value is not None},
        }
    )


def configured(plain: list[Pool] | None = None, credentials: str | None = None, **sections: Any) -> Operators:
    return configure(settings(**sections), plain or [pool(), pool(HBV4, "hb")], registry_credentials=credentials)


def test_without_gpus_there_is_nothing_for_a_gpu_operator() -> None:
    assert configured([pool(HBV4, "hb")]).gpu_pools == []
    assert [one.name for one in configured().gpu_pools] == ["ndh100"]


def test_helm_values_of_the_gpu_operator_are_no_mistake_where_there_is_none() -> None:
    configured([pool(HBV4, "hb")], gpuOperator={"values": {"driver": {"enabled": False}}})


@pytest.mark.field_report("A4")
def test_mistakes_in_both_operators_values_are_told_together() -> None:
    contrary = {"nfd": {"enabled": False}}
    with pytest.raises(ValuesError) as refused:
        configured(networkOperator={"values": contrary}, gpuOperator={"values": {"toolkit": {"enabled": False}}})
    assert "nfd.enabled is False; it must be True" in str(refused.value)
    assert "toolkit.enabled is False; it must be True" in str(refused.value)


def test_driver_versions_and_upgrades_reach_both_drivers() -> None:
    operators = configured(
        networkOperator={"driverVersion": "doca9", "upgrade": {"automatic": False, "drainTimeoutSeconds": 60}},
        gpuOperator={"driverVersion": "580.1"},
    )
    options = operators.policy(KUBECONFIG).options
    assert (options.driver_version, options.upgrade.automatic) == ("doca9", False)
    gpu = operators.gpu(KUBECONFIG)
    assert (gpu.driver_version, gpu.upgrade.drain_timeout_seconds) == ("580.1", 60)


def test_pools_that_differ_get_policies_of_their_own_and_pools_that_agree_none() -> None:
    assert configured().node_policies(KUBECONFIG) == {}
    different = configured([pool(), pool(HBV4, "hb", mode="sriov")]).node_policies(KUBECONFIG)
    assert {name: args.pool.name for name, args in different.items()} == {"ndh100": "ndh100", "hb": "hb"}


def test_pools_in_mode_ipoib_get_a_network_with_the_addresses_of_the_settings() -> None:
    operators = configured(
        [pool(), pool(HBV4, "hb", mode="ipoib")],
        pools=[
            {"name": "ndh100", "vmSize": H100, "count": 2},
            {"name": "hb", "vmSize": HBV4, "count": 2, "mode": "ipoib", "ipoibDevices": ["ibP257p0s0"]},
        ],
        networkOperator={"ipoib": {"range": "172.20.0.0/16", "addressesPerNode": 32}},
    )
    (args,) = operators.ipoib_networks(KUBECONFIG).values()
    assert args.namespace == "aks-infiniband"
    assert args.network.addresses.subnet == IPv4Network("172.20.0.0/16")
    assert args.network.addresses.per_node == 32
    assert [one.name for one in args.network.pools] == ["hb"]
    assert configured().ipoib_networks(KUBECONFIG) == {}


def test_nodes_are_prepared_where_asked_for_and_inbox_nodes_always() -> None:
    assert configured().node_preparation("ns", KUBECONFIG) is None
    asked = configured(networkOperator={"nodePreparation": True}).node_preparation("ns", KUBECONFIG)
    assert asked is not None
    assert ([one.name for one in asked.pools], asked.memlock) == (["ndh100", "hb"], True)
    inbox = configured([pool(), pool(HBV4, "hb", nic_driver="inbox")]).node_preparation("ns", KUBECONFIG)
    assert inbox is not None
    assert ([one.name for one in inbox.pools], inbox.memlock) == (["hb"], False)


def test_peermem_is_loaded_for_aks_own_drivers_only() -> None:
    assert configured().peermem("ns", KUBECONFIG) is None
    loader = configured([pool(gpu_driver="aks")]).peermem("ns", KUBECONFIG)
    assert loader is not None
    assert [one.name for one in loader.pools] == ["ndh100"]


@pytest.mark.field_report("C11")
def test_the_registry_of_the_settings_is_everybodys() -> None:
    operators = configured(
        [pool(gpu_driver="aks")],
        credentials="{}",
        registry={"images": "acr.example/mirror", "charts": "oci://acr.example/charts"},
        networkOperator={"nodePreparation": True},
    )
    preparation, loader = operators.node_preparation("ns", KUBECONFIG), operators.peermem("ns", KUBECONFIG)
    assert preparation is not None
    assert loader is not None
    takers: list[Any] = [
        operators,
        operators.network(KUBECONFIG),
        operators.gpu(KUBECONFIG),
        operators.policy(KUBECONFIG).options,
        preparation,
        loader,
    ]
    for taker in takers:
        assert taker.registry.images == "acr.example/mirror"
        assert taker.registry.pull_secret == "aks-infiniband-registry"
    assert operators.network_chart.name == "oci://acr.example/charts/network-operator"
    assert operators.gpu_chart.name == "oci://acr.example/charts/gpu-operator"
    assert configured().registry.pull_secret is None


def test_an_existing_clusters_operators_run_where_its_settings_say() -> None:
    existing: Any = {
        "cluster": None,
        "pools": [{"name": "ndh100", "vmSize": H100, "count": 2, "nodeSelector": {"pool": "ndh100"}}],
    }
    anywhere = configured([pool()], existingCluster={}, **existing)
    assert anywhere.network(KUBECONFIG).system_node_selector == {}
    labelled = configured([pool()], existingCluster={"systemNodeSelector": {"role": "system"}}, **existing)
    assert labelled.gpu(KUBECONFIG).system_node_selector == {"role": "system"}
    assert configured().network(KUBECONFIG).system_node_selector == {"kubernetes.azure.com/mode": "system"}
