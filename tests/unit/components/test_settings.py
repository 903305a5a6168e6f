"""Every mistake in a stack file is found at the door, all of them at once, each with its key and what is allowed."""

import copy
import json
from typing import Any

import pulumi
import pytest
from aks_infiniband import SettingsError, load, stack_configuration
from aks_infiniband.settings import Settings

GOOD = {
    "azure-native:location": "southcentralus",
    "aks-infiniband:cluster": {"kubernetesVersion": "1.34"},
    "aks-infiniband:pools": [{"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2}],
}


def mistakes(configuration: Any) -> dict[str, str]:
    with pytest.raises(SettingsError) as error:
        load(configuration)
    return {mistake.key: mistake.reason for mistake in error.value.mistakes}


def changed(**sections: Any) -> Any:
    return {**copy.deepcopy(GOOD), **{f"aks-infiniband:{key}": value for key, value in sections.items()}}


def pool(**more: Any) -> Any:
    return {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, **more}


def test_defaults_complete_a_minimal_stack() -> None:
    settings = load(GOOD)
    assert settings.location == "southcentralus"
    assert settings.pools[0].size.infiniband.rate_gbps == 400
    assert settings.network_operator.mode == "rdma-shared"
    assert settings.validation.mode == "enforce"


def test_pulumis_json_text_and_plain_data_are_the_same() -> None:
    as_text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in GOOD.items()}
    assert load(as_text) == load(GOOD)


def test_other_namespaces_are_none_of_our_business() -> None:
    assert load({**GOOD, "kubernetes:context": "elsewhere"}) == load(GOOD)


def test_settings_cannot_be_changed_after_the_door() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(GOOD).location = "westeurope"


def test_all_mistakes_are_reported_together() -> None:
    found = mistakes(
        {
            "aks-infiniband:cluster": {"kubernetesVersion": 1.34, "network": {"podCidr": "no"}},
            "aks-infiniband:pools": [pool(name="ND", count=0), pool(vmSize="Standard_D8s_v5")],
            "aks-infiniband:readyness": {},
        }
    )
    assert set(found) == {
        "azure-native:location",
        "aks-infiniband:cluster.kubernetesVersion",
        "aks-infiniband:cluster.network.podCidr",
        "aks-infiniband:pools[0].name",
        "aks-infiniband:pools[0].count",
        "aks-infiniband:pools[1].vmSize",
        "aks-infiniband:readyness",
    }


def test_the_error_says_that_nothing_was_created() -> None:
    with pytest.raises(
        SettingsError, match=r"1 mistake, and nothing was created:\n  - aks-infiniband:pools\[0\].count"
    ):
        load(changed(pools=[pool(count=0)], validation={"mode": "off"}))


@pytest.mark.parametrize(
    ("sections", "key", "reason"),
    [
        ({"cluster": {}}, "cluster.kubernetesVersion", "is missing"),
        (
            {"cluster": {"kubernetesVersion": 1.34}},
            "cluster.kubernetesVersion",
            "is 1.34; must be a string: put it in quotes",
        ),
        ({"cluster": {"kubernetesVersion": "1.29"}}, "cluster.kubernetesVersion", "is '1.29'; must be 1.31 or later"),
        ({"cluster": {"kubernetesVersion": "v1.34"}}, "cluster.kubernetesVersion", "must be a quoted version"),
        ({"cluster": {"kubernetesVersion": "1.34", "name": "-x"}}, "cluster.name", "must be 1 to 63 letters"),
        (
            {"cluster": {"kubernetesVersion": "1.34", "resourceGroup": "x."}},
            "cluster.resourceGroup",
            "not ending with .",
        ),
        (
            {"cluster": {"kubernetesVersion": "1.34", "systemPool": {"vmSize": "Standard_HX176rs"}}},
            "cluster.systemPool.vmSize",
            "is an InfiniBand size: give it a pool of its own",
        ),
        ({"pools": []}, "pools", "must have at least 1"),
        (
            {"pools": [pool(name="ND-H100")]},
            "pools[0].name",
            "is 'ND-H100'; must be 1 to 12 lower-case letters and digits",
        ),
        ({"pools": [pool(name="averylongname1")]}, "pools[0].name", "must be 1 to 12"),
        ({"pools": [pool(name="system")]}, "pools[0].name", "is the name of the cluster's system pool"),
        ({"pools": [pool(), pool()]}, "pools[1].name", "must be unique"),
        (
            {"pools": [pool(vmSize="Standard_ND96is_H100_v5")]},
            "pools[0].vmSize",
            "behind its number); nearest known size: Standard_ND96isr_H100_v5",
        ),
        (
            {"pools": [pool(vmSize="Standard_ND96isr_H10_v5")]},
            "pools[0].vmSize",
            "must be a known InfiniBand size; nearest known size: Standard_ND96isr_H100_v5; known: Standard_HC44rs",
        ),
        (
            {"pools": [pool(vmSize="Standard_ND96isr_MI300X_v5")]},
            "pools[0].vmSize",
            "is not supported yet: its GPUs need the ROCm GPU operator",
        ),
        (
            {"pools": [pool(vmSize="Standard_ND128isr_NDR_GB200_v6")]},
            "pools[0].vmSize",
            "is not supported yet: its GPUs need the NVIDIA DRA driver with ComputeDomains",
        ),
        (
            {"pools": [pool(count=1)]},
            "pools[0].count",
            "must be 2 or more, because a pool is validated across its nodes",
        ),
        ({"pools": [pool(count=101)]}, "pools[0].count", "must be less than or equal to 100"),
        ({"pools": [pool(zones=["1", "2"])]}, "pools[0].zones", "must have at most 1"),
        ({"pools": [pool(zones=["4"])]}, "pools[0].zones[0]", "an availability zone"),
        ({"pools": [pool(taints=["gpu"])]}, "pools[0].taints[0]", "must be a taint, key=value:NoSchedule"),
        (
            {"pools": [pool(taints=["a=b:NoSchedule", "a=b:NoExecute", "a=c:NoSchedule"])]},
            "pools[0].taints[2]",
            "must not have key and effect in common with 'a=b:NoSchedule'",
        ),
        ({"pools": [pool(labels={"a b": "c"})]}, "pools[0].labels.a b", "must be a Kubernetes label key"),
        (
            {"pools": [pool(labels={"kubernetes.azure.com/mode": "user"})]},
            "pools[0].labels.kubernetes.azure.com/mode",
            "AKS keeps that prefix",
        ),
        ({"pools": [pool(osDiskSizeGb=10)]}, "pools[0].osDiskSizeGb", "must be greater than or equal to 30"),
        ({"networkOperator": {"mode": "sriov"}}, "networkOperator.mode", "is 'sriov'; must be 'rdma-shared'"),
        ({"validation": {"mode": "on"}}, "validation.mode", "must be 'enforce', 'warn' or 'off'"),
        ({"readiness": {"timeoutSeconds": 0}}, "readiness.timeoutSeconds", "must be greater than 0"),
        ({"readiness": {"timeoutSeconds": "30m"}}, "readiness.timeoutSeconds", "a number, without quotes or unit"),
        ({"readiness": {"stableSeconds": 9000}}, "readiness.stableSeconds", "must be less than timeoutSeconds, 2700"),
        ({"pools": {"ndh100": {}}}, "pools", "must be a list, each item behind a dash"),
        ({"pools": [pool(count="2")]}, "pools[0].count", "is '2'; must be a whole number: leave the quotes out"),
        ({"networkOperator": None}, "networkOperator", "must be a mapping, key: value, or {} for all defaults"),
        ({"gpuOperator": {"chart": {"repository": "oci://x"}}}, "gpuOperator.chart.repository", "the chart's name"),
        (
            {"cluster": {"kubernetesVersion": "1.34", "name": "one", "nodeResourceGroup": "One"}},
            "cluster.nodeResourceGroup",
            "must not be the cluster's own",
        ),
        ({"location": "westeurope"}, "location", "the region is azure-native:location"),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_key_and_what_is_allowed(
    sections: Any, key: Any, reason: Any
) -> None:
    found = mistakes(changed(**sections))
    assert list(found) == [f"aks-infiniband:{key}"]
    assert reason in found[f"aks-infiniband:{key}"]


@pytest.mark.parametrize(
    ("network", "key", "reason"),
    [
        ({"podCidr": "10.224.0.0/16"}, "podCidr", "must not overlap addressSpace 10.224.0.0/12"),
        ({"serviceCidr": "10.244.8.0/24"}, "serviceCidr", "must not overlap podCidr 10.244.0.0/16"),
        ({"subnet": "10.1.0.0/16"}, "subnet", "must lie within addressSpace 10.224.0.0/12"),
        ({"serviceCidr": "172.30.0.0/24"}, "serviceCidr", "overlaps 172.30.0.0/16, which AKS keeps for itself"),
        ({"serviceCidr": "10.0.0.0/29"}, "serviceCidr", "must be a /12 to /27"),
        ({"subnet": "10.224.0.0/29"}, "subnet", "has 3 addresses for nodes; the stack has 4, and an upgrade takes 1"),
        ({"subnet": "10.224.0.1/16"}, "subnet", "must be written by its first address: 10.224.0.0/16"),
        ({"podCidr": "10.244.0.0/23"}, "podCidr", "has room for 2 nodes, a /24 for each; the stack has 4"),
    ],
)
def test_address_ranges_that_do_not_go_together_are_refused(network: Any, key: Any, reason: Any) -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "1.34", "network": network}))
    assert list(found) == [f"aks-infiniband:cluster.network.{key}"]
    assert reason in found[f"aks-infiniband:cluster.network.{key}"]


def test_one_node_is_enough_where_nothing_is_validated() -> None:
    assert load(changed(pools=[pool(count=1)], validation={"mode": "off"})).pools[0].count == 1


@pytest.mark.parametrize(
    ("sections", "key", "nearest"),
    [
        ({"pool": []}, "pool", "pools"),
        ({"pools": [pool(vmsize="x")]}, "pools[0].vmsize", "vmSize"),
        ({"cluster": {"kubernetesVersion": "1.34", "network": {"podCIDR": "x"}}}, "cluster.network.podCIDR", "podCidr"),
        ({"validation": {"timeout_seconds": 1}}, "validation.timeout_seconds", "timeoutSeconds"),
        ({"networkOperator": {"chart": {"repo": "x"}}}, "networkOperator.chart.repo", "repository"),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(sections: Any, key: Any, nearest: Any) -> None:
    assert f"did you mean {nearest}?" in mistakes(changed(**sections))[f"aks-infiniband:{key}"]


def test_an_empty_region_is_refused() -> None:
    assert mistakes({**GOOD, "azure-native:location": ""}) == {
        "azure-native:location": "is ''; must be text, and not empty"
    }


def test_a_secret_among_our_keys_is_refused_before_it_can_reach_the_state() -> None:
    secrets = {"aks-infiniband:gpuOperator": '{"values": {"key": "s3cret"}}', "azure-native:clientSecret": "fine"}
    pulumi.runtime.set_all_config({"azure-native:location": "southcentralus", **secrets}, list(secrets))
    try:
        with pytest.raises(SettingsError, match="aks-infiniband:gpuOperator holds a secret") as refused:
            stack_configuration()
        assert "s3cret" not in str(refused.value)
        assert len(refused.value.mistakes) == 1
    finally:
        pulumi.runtime.set_all_config({}, [])


def test_a_mistake_in_one_section_does_not_hide_an_inconsistency_in_another() -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "x"}, pools=[pool(count=1), pool(name="B")]))
    assert set(found) == {
        "aks-infiniband:cluster.kubernetesVersion",
        "aks-infiniband:pools[0].count",
        "aks-infiniband:pools[1].name",
    }


def test_a_wrong_field_of_a_pool_does_not_hide_an_inconsistency_of_another_field() -> None:
    found = mistakes(changed(pools=[pool(), pool(vmSize="Standard_D8s_v5", count=1)]))
    assert set(found) == {
        "aks-infiniband:pools[1].vmSize",
        "aks-infiniband:pools[1].count",
        "aks-infiniband:pools[1].name",
    }


def test_every_setting_says_what_it_is() -> None:
    def undocumented(model: Any, path: Any) -> Any:
        for name, field in model.model_fields.items():
            nested = field.annotation if hasattr(field.annotation, "model_fields") else None
            if nested:
                yield from undocumented(nested, f"{path}.{name}")
            elif not field.description and name not in {"pools", "mode"}:
                yield f"{path}.{name}"

    assert list(undocumented(Settings, "")) == []
