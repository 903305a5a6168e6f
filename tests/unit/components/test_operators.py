"""The Network Operator and the GPU Operator: what is registered, in which order, and what is refused."""

from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband import (
    GpuOperator,
    GpuOperatorArgs,
    NetworkOperator,
    NetworkOperatorArgs,
)
from aks_infiniband.facts.releases import GPU_OPERATOR_CHART, NETWORK_OPERATOR_CHART
from aks_infiniband.operators.charts import ValuesError, chart_source
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.network_operator import network_operator_values, node_feature_rule_spec
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.registry import Registry

from declared.pulumi_mocks import Deploy
from tests.some_pools import pool

RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
RULE = "kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule"
CLUSTER_POLICY = "kubernetes:nvidia.com/v1:ClusterPolicyPatch"
NAMESPACE = "kubernetes:core/v1:Namespace"


def network_operator(**more: Any) -> Any:
    return NetworkOperator(
        "network-operator", args=NetworkOperatorArgs(pools=[pool()], timeout_seconds=900, **more)
    ).namespace


@pytest.mark.field_report("B10")
@pytest.mark.parametrize(
    ("chart", "warned"),
    [
        ({}, False),
        ({"version": "v26.4.1"}, False),
        ({"name": "./charts/network-operator"}, False),
        ({"version": "26.7.0"}, True),
        ({"name": "oci://acr.example/network-operator", "version": "26.7.0"}, True),
    ],
)
def test_a_chart_of_another_release_than_the_parts_that_policies_name_is_warned_of(
    deploy: Deploy, warnings: list[str], chart: dict[str, str], warned: bool
) -> None:
    deploy(lambda: network_operator(chart=chart_source(NETWORK_OPERATOR_CHART, **chart)))
    assert bool(warnings) is warned
    if warned:
        assert "chart.version is 26.7.0; the policies name drivers, plugins and CNIs of 26.4.1" in warnings[0]


@pytest.mark.field_report("B6", "A10")
def test_sizes_that_only_the_stack_file_describes_are_found_by_their_own_device() -> None:
    described = pool().changed(
        size=replace(pool().size, infiniband=replace(pool().size.infiniband, vf_device_id="1234"))
    )
    (rule,) = node_feature_rule_spec([described])["rules"]
    assert rule["matchFeatures"][0]["matchExpressions"]["device"]["value"] == ["1234"]


@pytest.mark.field_report("C11")
def test_credentials_are_there_before_the_release_that_pulls_with_them(deploy: Deploy) -> None:
    registry = Registry(images="acr.example", pull_secret="aks-infiniband-registry")

    def program() -> Any:
        pools = [pool()]
        network = network_operator_values(pools, registry=registry)
        gpu = gpu_operator_values(pools, options=OperatorOptions(registry=registry))
        more: Any = {"pools": pools, "registry_credentials": "{}"}
        NetworkOperator("network-operator", args=NetworkOperatorArgs(values=network, **more))
        return GpuOperator("gpu-operator", args=GpuOperatorArgs(values=gpu, **more)).state

    deployment = deploy(program)
    secrets = {
        resource.inputs["metadata"]["namespace"]: resource for resource in deployment.all("kubernetes:core/v1:Secret")
    }
    assert set(secrets) == {"network-operator", "gpu-operator"}
    for release in deployment.all(RELEASE):
        assert secrets[release.inputs["namespace"]].name in release.dependencies
        assert release.inputs["values"]["operator"]["repository"].startswith("acr.example/nvidia")


def test_the_component_alone_refuses_a_chart_whose_driver_has_no_v100(deploy: Deploy) -> None:
    newer = chart_source(GPU_OPERATOR_CHART, version="v26.7.0")
    with pytest.raises(ValuesError, match=r"chart\.version is 'v26\.7\.0'.*V100, which pool old has"):
        deploy(
            lambda: GpuOperator(
                "gpu-operator", args=GpuOperatorArgs(pools=[pool("Standard_ND40rs_v2", "old")], chart=newer)
            )
        )
