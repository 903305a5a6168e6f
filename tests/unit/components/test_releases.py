"""A release of NVIDIA's operators: one setting names it, and nothing of another comes with it."""

import json
from typing import Any

import aks_infiniband as rdma
import pytest
from aks_infiniband.facts.releases import DEFAULT_RELEASE, OPERATOR_RELEASES, release_of
from aks_infiniband.stack.load import load
from aks_infiniband.stack.settings.mistakes import SettingsError
from aks_infiniband.stack.stack import Stack
from aks_infiniband_cli.preflight.chart_images import gpu_driver, not_known, of_charts

from tests.unit.components.stack_files import network_of

POOL = {"name": "a100", "vmSize": "Standard_ND96asr_v4", "count": 2}


def stack(**settings: Any) -> Stack:
    said = {"cluster": {"kubernetesVersion": "1.35"}, "pools": [POOL], **settings}
    return load({"azure-native:location": "southcentralus"} | {f"aks-infiniband:{key}": said[key] for key in said})


def test_a_release_brings_the_charts_the_parts_and_the_drivers_of_both_operators() -> None:
    made = stack(release="26.7")
    assert [operator.chart.version for operator in made.operators.installed] == ["26.7.0", "v26.7.0"]
    assert made.policies.cluster["ofedDriver"]["version"] == "doca3.5.0-26.07-0.7.7.0-1"
    assert made.policies.cluster["rdmaSharedDevicePlugin"]["version"] == "network-operator-v26.7.0"
    assert gpu_driver(made) == "nvcr.io/nvidia/driver:595.91.07"
    assert "26.4.1" not in json.dumps(made.policies.cluster)


def test_policies_alone_take_a_release_too() -> None:
    pools = stack().pools
    options = rdma.OperatorOptions(release=rdma.OPERATOR_RELEASES["26.7"])
    assert rdma.nic_policy_specs(pools, options).cluster == stack(release="26.7").policies.cluster


def test_who_names_no_release_keeps_what_there_was() -> None:
    made = stack()
    assert made.operators.release is DEFAULT_RELEASE
    assert [operator.chart.version for operator in made.operators.installed] == ["26.4.1", "v26.3.3"]
    assert made.policies.cluster["ofedDriver"]["version"] == "doca3.4.1-26.04-1.1.0.0-1"


@pytest.mark.parametrize("name", OPERATOR_RELEASES)
def test_a_preflight_knows_every_image_of_a_release(name: str) -> None:
    made = stack(release=name)
    references = dict(of_charts(made))
    assert list(not_known(made)) == []
    release = OPERATOR_RELEASES[made.operators.release.name]
    assert f"nvcr.io/nvidia/gpu-operator:{release.gpu_operator.chart.version}" in references
    assert f"nvcr.io/nvidia/cloud-native/network-operator:v{release.network_operator.chart.version}" in references
    assert all(reference.rpartition(":")[2] not in ("", "None") for reference in references)


@pytest.mark.parametrize(
    ("settings", "key", "said"),
    [
        ({"release": "26.5"}, "release", "'26.4'"),
        (
            {"release": "26.4", "networkOperator": {"chart": {"version": "26.7.0"}}},
            "networkOperator.chart.version",
            "is of release 26.7, and aks-infiniband:release is 26.4, which has 26.4.1",
        ),
        (
            {"release": "26.7", "gpuOperator": {"chart": {"version": "v26.3.3"}}},
            "gpuOperator.chart.version",
            "is of release 26.4, and aks-infiniband:release is 26.7, which has v26.7.0",
        ),
    ],
)
def test_a_release_that_is_none_and_a_chart_of_another_one_are_refused(
    settings: dict[str, Any], key: str, said: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        stack(**settings)
    (mistake,) = refused.value.mistakes
    assert mistake.key == f"aks-infiniband:{key}"
    assert said in mistake.reason


def test_a_kubernetes_that_the_charts_of_a_release_refuse_is_refused_before() -> None:
    old = {"kubernetesVersion": "1.31", "supportPlan": "AKSLongTermSupport"}
    with pytest.raises(SettingsError) as refused:
        stack(cluster=old, release="26.7")
    assert "the charts of aks-infiniband:release 26.7 refuse older ones" in str(refused.value)


def test_a_version_of_a_chart_alone_may_be_any() -> None:
    made = stack(networkOperator={"chart": {"version": "26.7.1"}})
    assert network_of(made).chart.version == "26.7.1"
    assert [line.check for line in not_known(made)] == ["images of the Network Operator's chart"]


@pytest.mark.parametrize("settings", [{"release": "26.7"}, {"gpuOperator": {"chart": {"version": "v26.7.0"}}}])
def test_v100_needs_a_driver_of_its_own_with_the_newer_release(settings: dict[str, Any]) -> None:
    old = {"name": "v100", "vmSize": "Standard_ND40rs_v2", "count": 2}
    with pytest.raises(SettingsError, match="give driverVersion of branch 580"):
        stack(pools=[old], **settings)
    operator = {**settings.get("gpuOperator", {}), "driverVersion": "580.126.20"}
    assert gpu_driver(stack(pools=[old], **{**settings, "gpuOperator": operator})) == "nvcr.io/nvidia/driver:580.126.20"


@pytest.mark.parametrize(
    ("version", "named"),
    [
        ("1.36", {"26.4": 1, "26.7": 0}),
        ("1.37", {"26.4": 2, "26.7": 1}),
        ("1.31", {"26.4": 1, "26.7": 2}),
        ("1.34", {}),
    ],
)
def test_each_release_has_a_range_of_kubernetes(version: str, named: dict[str, int]) -> None:
    found = {name: len(release.unnamed(version)) for name, release in OPERATOR_RELEASES.items()}
    assert {name: count for name, count in found.items() if count} == {n: c for n, c in named.items() if c}


def test_a_version_of_no_release_is_told_from_those_that_are() -> None:
    assert release_of("gpu-operator", "26.3.3") is DEFAULT_RELEASE
    assert release_of("gpu-operator", "v26.7.1") is None
    assert release_of("network-operator", None) is None
