"""Every mistake in a stack file is found at the door, all of them at once, each with its key and what is allowed."""

import json
import time
from dataclasses import FrozenInstanceError
from typing import Any
from unittest.mock import ANY

import pytest
from aks_infiniband import SettingsError, load
from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.stack.settings.mistakes import model_in
from aks_infiniband.stack.settings.model import Settings

from tests.unit.components.stack_files import GOOD, changed, cluster, loaded, made, mistakes, pool


def test_defaults_complete_a_minimal_stack() -> None:
    stack = load(GOOD)
    assert made(stack).cluster.location == "southcentralus"
    assert stack.pools[0].size.infiniband.rate_gbps == 400
    assert stack.pools[0].mode == "rdma-shared"
    assert stack.settings.validation.mode == "enforce"


def test_pulumis_json_text_and_plain_data_are_the_same() -> None:
    as_text = {key: value if isinstance(value, str) else json.dumps(value) for key, value in GOOD.items()}
    assert load(as_text) == load(GOOD)


def test_other_namespaces_are_none_of_our_business() -> None:
    assert load({**GOOD, "kubernetes:context": "elsewhere"}) == load(GOOD)


def test_settings_cannot_be_changed_after_the_door() -> None:
    with pytest.raises(FrozenInstanceError):
        load(GOOD).memlock = True  # type: ignore[misc]  # that is what is tested


@pytest.mark.parametrize("form", [json.dumps, list])
def test_20_000_pools_are_answered_at_once_and_not_one_by_one(form: Any) -> None:
    many = [{"name": f"P {number}", "vmSize": "x", "count": 0} for number in range(20_000)]
    began = time.monotonic()
    found = mistakes({**changed(), "aks-infiniband:pools": form(many)})
    assert found == {"pools": ANY}
    assert found["pools"].startswith("must hold 99 pools at most, in addition to the system pool")
    assert time.monotonic() - began < 10


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
        "cluster.kubernetesVersion",
        "cluster.network.podCidr",
        "pools[0].name",
        "pools[0].count",
        "pools[1].vmSize",
        "readyness",
    }


def test_the_error_says_that_nothing_was_created() -> None:
    with pytest.raises(
        SettingsError, match=r"1 mistake, and nothing was created:\n  - aks-infiniband:pools\[0\].count"
    ):
        load(changed(pools=[pool(count=0)], validation={"mode": "off"}))


@pytest.mark.parametrize(
    ("sections", "key", "reason"),
    [
        ({"cluster": {}}, "cluster.kubernetesVersion", "is missing; it must be given and quoted, such as kubernetesV"),
        (
            {"cluster": {"kubernetesVersion": 1.34}},
            "cluster.kubernetesVersion",
            "is 1.34; must be a string: put it in quotes",
        ),
        ({"cluster": {"kubernetesVersion": "v1.34"}}, "cluster.kubernetesVersion", "must be a quoted version"),
        ({"pools": []}, "pools", "must have at least 1"),
        ({"pools": [pool(count=1001)]}, "pools[0].count", "must be less than or equal to 1000"),
        ({"pools": [pool(zones=["4"])]}, "pools[0].zones[0]", "an availability zone"),
        ({"pools": [pool(taints=["gpu"])]}, "pools[0].taints[0]", "must be a taint, key=value:NoSchedule"),
        ({"pools": [pool(labels={"a b": "c"})]}, "pools[0].labels.a b", "must be a Kubernetes label key"),
        (
            {"pools": [pool(labels={"kubernetes.azure.com/mode": "user"})]},
            "pools[0].labels.kubernetes.azure.com/mode",
            "AKS keeps that prefix",
        ),
        (
            {"pools": [pool(labels={"topology.kubernetes.io/rack": "1"})]},
            "pools[0].labels.topology.kubernetes.io/rack",
            "must not be in kubernetes.io or k8s.io",
        ),
        ({"pools": [pool(osDiskSizeGb=10)]}, "pools[0].osDiskSizeGb", "must be greater than or equal to 30"),
        ({"pools": [pool(osDiskType="ephemeral")]}, "pools[0].osDiskType", "did you mean Ephemeral?"),
        ({"networkOperator": {"mode": "sr-iov"}}, "networkOperator.mode", "did you mean sriov?"),
        ({"networkOperator": {"driver": "ofed"}}, "networkOperator.driver", "must be 'doca-ofed' or 'inbox'"),
        ({"networkOperator": {"nodePreparation": "on"}}, "networkOperator.nodePreparation", "must be true or false"),
        ({"validation": {"mode": "on"}}, "validation.mode", "must be 'enforce', 'warn' or 'off'"),
        ({"validation": {"tries": 0}}, "validation.tries", "must be greater than or equal to 1"),
        ({"readiness": {"timeoutSeconds": 0}}, "readiness.timeoutSeconds", "must be greater than or equal to 1"),
        ({"readiness": {"timeoutSeconds": "30m"}}, "readiness.timeoutSeconds", "a number, without quotes or unit"),
        ({"readiness": {"stableSeconds": 9000}}, "readiness.stableSeconds", "must be less than timeoutSeconds, 2700"),
        ({"pools": {"ndh100": {}}}, "pools", "must be a list, each item behind a dash"),
        ({"pools": [pool(count="2")]}, "pools[0].count", "is '2'; must be a whole number: leave the quotes out"),
        ({"networkOperator": None}, "networkOperator", "must be a mapping, key: value, or {} for all defaults"),
        ({"gpuOperator": {"chart": {"repository": "oci://x"}}}, "gpuOperator.chart.repository", "the chart's name"),
        ({"registry": {"images": "https://mirror.example"}}, "registry.images", "must be a registry, HOST[:PORT]"),
        ({"registry": {"charts": "mirror.example/charts"}}, "registry.charts", "must be an https:// chart repository"),
        ({"workload": {"namespaces": ["Team_A"]}}, "workload.namespaces[0]", "must be a namespace: at most 63"),
        ({"workload": {"namespaces": ["a", "a"]}}, "workload.namespaces[1]", "must be listed once"),
        ({"workload": {"namespaces": ["aks-infiniband"]}}, "workload.namespaces[0]", "has the settings anyway"),
        ({"workload": {"namespaces": ["aks-infiniband-system"]}}, "workload.namespaces[0]", "is not for workloads"),
        ({"workload": {"namespaces": ["a", "kube-system"]}}, "workload.namespaces[1]", "is Kubernetes' own"),
        ({"workload": {"namespaces": ["gpu-operator"]}}, "workload.namespaces[0]", "belongs to an operator"),
        ({"location": "westeurope"}, "location", "the region is azure-native:location"),
        (
            {"validation": {"thresholds": {"rdma-write-bandwith": {"fail": 300}}}},
            "validation.thresholds.rdma-write-bandwith",
            "is no figure; did you mean rdma-write-bandwidth?",
        ),
        (
            {"validation": {"thresholds": {"rdma-write-bandwidth": {"warn": 300, "fail": 350}}}},
            "validation.thresholds.rdma-write-bandwidth.warn",
            "is 300.0; must not be less than fail, 350",
        ),
        (
            {"validation": {"thresholds": {"rdma-read-latency": {"warn": 9, "fail": 6}}}},
            "validation.thresholds.rdma-read-latency.warn",
            "must not be more than fail, 6",
        ),
        (
            {"validation": {"thresholds": {"rdma-write-bandwidth": {}}}},
            "validation.thresholds.rdma-write-bandwidth",
            "must give warn or fail, or both",
        ),
        (
            {"validation": {"thresholds": {"rdma-write-bandwidth": {"fail": -1}}}},
            "validation.thresholds.rdma-write-bandwidth.fail",
            "is -1; must be greater than 0",
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused_with_its_key_and_what_is_allowed(
    sections: Any, key: Any, reason: Any
) -> None:
    found = mistakes(changed(**sections))
    assert list(found) == [key]
    assert reason in found[key]


def test_a_threshold_of_an_unknown_figure_is_refused_with_every_figure_that_there_is() -> None:
    found = mistakes(changed(validation={"thresholds": {"quickness": {"fail": 1}}}))
    reason = found["validation.thresholds.quickness"]
    assert "did you mean" not in reason
    assert reason.partition("known: ")[2].split(", ") == list(FIGURES)


def test_a_kubernetes_older_than_the_operators_support_is_refused() -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "1.30"}))
    reason = "is '1.30'; must be 1.31 or later: the Network Operator supports no older Kubernetes"
    assert found == {"cluster.kubernetesVersion": reason}
    assert loaded(cluster={"kubernetesVersion": "1.31.9", "supportPlan": "AKSLongTermSupport"})


@pytest.mark.parametrize(
    ("sections", "key", "nearest"),
    [
        ({"pool": []}, "pool", "pools"),
        ({"pools": [pool(vmsize="x")]}, "pools[0].vmsize", "vmSize"),
        ({"pools": [pool(autoscale={"min": 2, "max": 3})]}, "pools[0].autoscale.min", "minCount"),
        ({"cluster": cluster(network={"podCIDR": "x"})}, "cluster.network.podCIDR", "podCidr"),
        ({"validation": {"timeout_seconds": 1}}, "validation.timeout_seconds", "timeoutSeconds"),
        ({"networkOperator": {"chart": {"repo": "x"}}}, "networkOperator.chart.repo", "repository"),
        (
            {"sizes": {"Standard_X1r": {"infiniband": {"hcas": 1}}}},
            "sizes.Standard_X1r.infiniband.hcas",
            "hcaCount",
        ),
    ],
)
def test_an_unknown_key_is_named_with_the_nearest_known_one(sections: Any, key: Any, nearest: Any) -> None:
    assert f"did you mean {nearest}?" in mistakes(changed(**sections))[key]


@pytest.mark.parametrize("through", ["pytorch", "nccl"])
def test_a_setting_of_an_earlier_release_is_refused_with_what_to_do(through: str) -> None:
    found = mistakes(changed(validation={"allReduce": through}))
    assert found == {
        "validation.allReduce": "is no longer a setting; all-reduce is measured through NCCL alone: remove the key, "
        "and to see what PyTorch makes of the fabric run the sample workload (docs/workloads.md)"
    }


@pytest.mark.parametrize("key", ["interconnectGroup", "interconnectGroupId"])
def test_an_interconnect_group_is_refused_with_the_way_round(key: str) -> None:
    pool = {"name": "gb300", "vmSize": "Standard_ND128isr_GB300_v6", "count": 18, key: "rack"}
    reason = mistakes(changed(pools=[pool]))[f"pools[0].{key}"]
    assert "no property of an AKS node pool names an interconnect group" in reason
    assert "existingCluster" in reason


@pytest.mark.parametrize("key", ["pools[0].dranet", "networkOperator.dranet"])
def test_akss_managed_dranet_is_refused_with_the_way_round(key: str) -> None:
    pool = {"name": "h100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "dranet": "aks"}
    reason = mistakes(changed(pools=[pool], networkOperator={"mode": "dra", "driver": "inbox", "dranet": "aks"}))[key]
    assert "is not in the version of Azure's API that this program sends" in reason
    assert "is measured as it is by aks-infiniband validate" in reason


def test_an_empty_region_is_refused() -> None:
    assert mistakes({**GOOD, "azure-native:location": ""}) == {
        "azure-native:location": "is ''; must be text, and not empty"
    }


def test_every_setting_says_what_it_is() -> None:
    def undocumented(model: Any, path: Any) -> Any:
        for name, field in model.model_fields.items():
            nested = model_in(field.annotation)
            if nested:
                yield from undocumented(nested, f"{path}.{name}")
            if not field.description and not (nested and nested.__doc__):
                yield f"{path}.{name}"

    assert list(undocumented(Settings, "")) == []
