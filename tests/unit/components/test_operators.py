"""The Network Operator and the GPU Operator: what is registered, in which order, and what is refused."""

from dataclasses import replace
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
import pytest
from aks_infiniband import (
    GpuOperator,
    GpuOperatorArgs,
    NetworkOperator,
    NetworkOperatorArgs,
    NicClusterPolicy,
    NicClusterPolicyArgs,
)
from aks_infiniband.facts.releases import NETWORK_OPERATOR_CHART
from aks_infiniband.operators.charts import ValuesError, chart_source
from aks_infiniband.operators.gpu_operator import gpu_operator_values
from aks_infiniband.operators.network_operator import network_operator_values, node_feature_rule_spec
from aks_infiniband.operators.nic_policy import nic_policy_specs
from aks_infiniband.operators.release import OperatorOptions
from aks_infiniband.resources.registry import Registry
from pulumi import ResourceOptions

from declared.pulumi_mocks import Deploy
from tests.some_pools import A100, HBV4, pool

RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
RULE = "kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule"
CLUSTER_POLICY = "kubernetes:nvidia.com/v1:ClusterPolicyPatch"
NAMESPACE = "kubernetes:core/v1:Namespace"


def network_operator(**more: Any) -> Any:
    return NetworkOperator(
        "network-operator", args=NetworkOperatorArgs(pools=[pool()], timeout_seconds=900, **more)
    ).namespace


def test_the_network_operators_namespace_admits_privileged_pods(deploy: Deploy) -> None:
    namespace = deploy(network_operator).one(NAMESPACE)
    assert namespace.inputs["metadata"]["name"] == "network-operator"
    assert namespace.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "privileged"


def test_the_network_operator_is_nvidias_chart_pinned_and_cleans_up_a_failed_install(deploy: Deploy) -> None:
    release = deploy(network_operator).one(RELEASE)
    assert release.inputs["chart"] == "network-operator"
    assert release.inputs["version"] == "26.4.1"
    assert release.inputs["repositoryOpts"] == {"repo": "https://helm.ngc.nvidia.com/nvidia"}
    assert release.inputs["name"] == "network-operator", "a release under a new name would be a second operator"
    assert (release.inputs["atomic"], release.inputs["cleanupOnFail"]) == (True, True)
    assert (release.inputs["skipAwait"], release.inputs["timeout"]) == (False, 900)


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
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch, chart: dict[str, str], warned: bool
) -> None:
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: said.append(text))
    deploy(lambda: network_operator(chart=chart_source(NETWORK_OPERATOR_CHART, **chart)))
    assert bool(said) is warned
    if warned:
        assert "chart.version is 26.7.0; the policies name drivers, plugins and CNIs of 26.4.1" in said[0]


def test_only_the_network_operator_brings_node_feature_discovery(deploy: Deploy) -> None:
    def program() -> Any:
        network_operator()
        return GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=900)).state

    gpu, network = sorted(deploy(program).all(RELEASE), key=lambda release: release.name)
    assert network.inputs["values"]["nfd"] == {"enabled": True, "deployNodeFeatureRules": False}
    assert gpu.inputs["values"]["nfd"] == {"enabled": False}


@pytest.mark.field_report("B6")
def test_the_feature_rule_finds_the_virtual_functions_of_every_pools_size(deploy: Deploy) -> None:
    def program() -> Any:
        pools = [pool(), pool(A100, "nda100"), pool(HBV4, "hb")]
        return NetworkOperator("network-operator", args=NetworkOperatorArgs(pools=pools, timeout_seconds=9)).namespace

    deployment = deploy(program)
    rule = deployment.one(RULE)
    (found,) = rule.inputs["spec"]["rules"]
    matches = found["matchFeatures"][0]["matchExpressions"]
    assert (matches["device"]["value"], matches["class"]["value"]) == (["101c", "101e"], ["0207"])
    assert found["labels"] == {"feature.node.kubernetes.io/pci-15b3.present": "true"}
    assert "network-operator" in rule.dependencies, "the definition comes with the release"


@pytest.mark.field_report("B16", "A8")
def test_discovery_and_the_operators_tolerate_the_pools_taints(deploy: Deploy) -> None:
    tainted = pool(taints=("sku=gpu:NoSchedule",))
    keyed = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}

    def program() -> Any:
        NetworkOperator("network-operator", args=NetworkOperatorArgs(pools=[tainted], timeout_seconds=9))
        return GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[tainted], timeout_seconds=9)).state

    gpu, network = sorted(deploy(program).all(RELEASE), key=lambda release: release.name)
    assert keyed in network.inputs["values"]["node-feature-discovery"]["worker"]["tolerations"]
    assert keyed in gpu.inputs["values"]["daemonsets"]["tolerations"]


def test_a_given_value_beside_the_derived_ones_reaches_the_chart(deploy: Deploy) -> None:
    given = {"operator": {"resources": {"limits": {"memory": "1Gi"}}}}
    values = (
        deploy(lambda: network_operator(values=network_operator_values([pool()], given=given)))
        .one(RELEASE)
        .inputs["values"]
    )
    assert values["operator"]["resources"] == {"limits": {"memory": "1Gi"}}
    assert values["operator"]["nodeSelector"] == {"kubernetes.azure.com/mode": "system"}


@pytest.mark.field_report("A4", "B3c", "B10")
def test_given_values_that_contradict_derived_ones_are_refused_all_at_once() -> None:
    contrary = {"driver": {"enabled": False, "rdma": {"useHostMofed": True}}, "nfd": {"enabled": True}}

    with pytest.raises(ValuesError) as refused:
        gpu_operator_values([pool()], given=contrary)
    text = str(refused.value)
    assert "driver.enabled is False; it must be True" in text
    assert "driver.rdma.useHostMofed is True; it must be False" in text
    assert "nfd.enabled is True; it must be False" in text


def terms(affinity: Any) -> Any:
    return affinity["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]


@pytest.mark.parametrize(("nodes", "memory"), [(2, "2Gi"), (140, "2Gi"), (250, "2Gi"), (300, "4Gi")])
def test_the_network_operator_may_use_more_memory_the_more_nodes_there_are(nodes: int, memory: str) -> None:
    values = network_operator_values([pool(node_count=nodes)])
    assert values["operator"]["resources"]["limits"]["memory"] == memory


def test_memory_that_is_given_stays() -> None:
    given = {"operator": {"resources": {"limits": {"memory": "8Gi"}}}}
    assert network_operator_values([pool()], given=given)["operator"]["resources"] == given["operator"]["resources"]


@pytest.mark.field_report("B16")
def test_the_operators_run_on_the_nodes_that_carry_the_given_labels() -> None:
    labels = {"role": "system", "zone": "1"}
    assert network_operator_values([pool()], system_node_selector=labels)["operator"]["nodeSelector"] == labels
    (term,) = terms(gpu_operator_values([pool()], system_node_selector=labels)["operator"]["affinity"])
    assert [
        (expression["key"], expression["operator"], expression["values"]) for expression in term["matchExpressions"]
    ] == [
        ("role", "In", ["system"]),
        ("zone", "In", ["1"]),
    ]


@pytest.mark.field_report("B16")
def test_without_such_labels_the_operators_keep_off_the_pools_that_they_prepare() -> None:
    pools = [pool(node_selector={"a": "1", "b": "2"}), pool(HBV4, "hb", node_selector={"c": "3"})]
    network = network_operator_values(pools, system_node_selector={})["operator"]
    gpu = gpu_operator_values(pools, system_node_selector={})["operator"]
    assert "nodeSelector" not in network
    assert terms(network["affinity"]) == terms(gpu["affinity"])
    nodes = {
        "of the first": {"a": "1", "b": "2"},
        "of the second": {"c": "3"},
        "of none": {},
        "with one label of two": {"a": "1", "b": "0"},
    }
    admitted = {
        name
        for name, labels in nodes.items()
        if any(
            all(labels.get(expression["key"]) not in expression["values"] for expression in term["matchExpressions"])
            for term in terms(gpu["affinity"])
        )
    }
    assert admitted == {"of none", "with one label of two"}


def test_many_pools_that_share_labels_are_kept_off_in_a_few_words() -> None:
    pools = [pool(name=f"nd{n}", node_selector={"sku": "gpu", "fabric": f"f{n}", "team": "ml"}) for n in range(10)]
    found = terms(network_operator_values(pools, system_node_selector={})["operator"]["affinity"])
    assert [
        [(expression["key"], expression["values"]) for expression in term["matchExpressions"]] for term in found
    ] == [
        [("sku", ["gpu"])],
        [("fabric", [f"f{n}" for n in range(10)])],
        [("team", ["ml"])],
    ]


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


@pytest.mark.field_report("D8b")
def test_the_cluster_policy_is_waited_for_and_nothing_of_it_is_owned(deploy: Deploy) -> None:
    program = lambda: GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=600)).state  # noqa: E731
    patch = deploy(program).one(CLUSTER_POLICY)
    assert "spec" not in patch.inputs
    assert patch.inputs["metadata"]["name"] == "cluster-policy"
    assert patch.inputs["metadata"]["annotations"] == {
        "pulumi.com/waitFor": "jsonpath={.status.state}=ready",
        "pulumi.com/timeoutSeconds": "600",
    }
    assert "gpu-operator" in patch.dependencies


def test_every_wait_has_an_error_hook(deploy: Deploy) -> None:
    def program() -> Any:
        network_operator()
        GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=9))
        return NicClusterPolicy("policy", args=NicClusterPolicyArgs(policies=nic_policy_specs([pool()]))).state

    deployment = deploy(program)
    waits = [*deployment.all(RELEASE), deployment.one(CLUSTER_POLICY), deployment.one(POLICY)]
    assert [len(wait.request["hooks"]["onError"]) for wait in waits] == [1, 1, 1, 1]
    assert len({hook for wait in waits for hook in wait.request["hooks"]["onError"]}) == 4


def test_what_a_component_waits_for_and_goes_with_reaches_its_children(deploy: Deploy) -> None:
    def program() -> Any:
        first = kubernetes.core.v1.Namespace("first")
        opts = ResourceOptions(depends_on=[first], deleted_with=first)
        args = NetworkOperatorArgs(pools=[pool()], timeout_seconds=9)
        return NetworkOperator("network-operator", args=args, opts=opts).namespace

    deployment = deploy(program)
    for child in (*deployment.all(RELEASE), *deployment.all(RULE)):
        assert "first" in child.dependencies
        assert child.deleted_with == "first"
