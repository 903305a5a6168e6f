"""The Network Operator, its policy and the GPU Operator: what is registered, in which order, and what is refused."""

import json
from typing import Any

import pulumi_kubernetes as kubernetes
import pytest
from aks_infiniband import (
    GpuOperator,
    GpuOperatorArgs,
    NetworkOperator,
    NetworkOperatorArgs,
    NicClusterPolicy,
    NicClusterPolicyArgs,
    Pool,
)
from aks_infiniband.catalog import SIZES
from aks_infiniband.charts import ValuesError
from aks_infiniband.nic_policy import nic_cluster_policy_spec
from aks_infiniband.pool import toleration
from pulumi import ResourceOptions

from tests.unit.pulumi_mocks import Deploy

RELEASE = "kubernetes:helm.sh/v3:Release"
POLICY = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"
RULE = "kubernetes:nfd.k8s-sigs.io/v1alpha1:NodeFeatureRule"
CLUSTER_POLICY = "kubernetes:nvidia.com/v1:ClusterPolicyPatch"
NAMESPACE = "kubernetes:core/v1:Namespace"


def pool(size: str = "Standard_ND96isr_H100_v5", name: str = "ndh100", taints: tuple[str, ...] = ()) -> Pool:
    return Pool(
        name=name,
        size=SIZES[size],
        node_count=2,
        node_selector={"kubernetes.azure.com/agentpool": name},
        tolerations=tuple(toleration(taint) for taint in taints),
        rdma_resource="rdma/shared_ib",
        rdma_quantity=1,
    )


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


def test_only_the_network_operator_brings_node_feature_discovery(deploy: Deploy) -> None:
    def program() -> Any:
        network_operator()
        return GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=900)).state

    gpu, network = sorted(deploy(program).all(RELEASE), key=lambda release: release.name)
    assert network.inputs["values"]["nfd"] == {"enabled": True, "deployNodeFeatureRules": False}
    assert gpu.inputs["values"]["nfd"] == {"enabled": False}


def test_the_feature_rule_finds_the_virtual_functions_of_every_pools_size(deploy: Deploy) -> None:
    def program() -> Any:
        pools = [pool(), pool("Standard_ND96asr_v4", "nda100"), pool("Standard_HX176rs", "hx")]
        return NetworkOperator("network-operator", args=NetworkOperatorArgs(pools=pools, timeout_seconds=9)).namespace

    deployment = deploy(program)
    rule = deployment.one(RULE)
    (found,) = rule.inputs["spec"]["rules"]
    assert found["matchFeatures"][0]["matchExpressions"]["device"]["value"] == ["101c", "101e"]
    assert found["labels"] == {"feature.node.kubernetes.io/pci-15b3.present": "true"}
    assert "network-operator" in rule.dependencies, "the definition comes with the release"


def test_discovery_and_the_operators_tolerate_the_pools_taints(deploy: Deploy) -> None:
    tainted = pool(taints=("sku=gpu:NoSchedule",))
    keyed = {"key": "sku", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}

    def program() -> Any:
        NetworkOperator("network-operator", args=NetworkOperatorArgs(pools=[tainted], timeout_seconds=9))
        return GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[tainted], timeout_seconds=9)).state

    gpu, network = sorted(deploy(program).all(RELEASE), key=lambda release: release.name)
    assert keyed in network.inputs["values"]["node-feature-discovery"]["worker"]["tolerations"]
    assert keyed in gpu.inputs["values"]["daemonsets"]["tolerations"]
    assert nic_cluster_policy_spec([tainted])["tolerations"] == [keyed]


def test_a_given_value_beside_the_derived_ones_reaches_the_chart(deploy: Deploy) -> None:
    given = {"operator": {"resources": {"limits": {"memory": "1Gi"}}}}
    values = deploy(lambda: network_operator(values=given)).one(RELEASE).inputs["values"]
    assert values["operator"]["resources"] == {"limits": {"memory": "1Gi"}}
    assert values["operator"]["nodeSelector"] == {"kubernetes.azure.com/mode": "system"}


def test_given_values_that_contradict_derived_ones_are_refused_all_at_once_before_anything_is_registered(
    deploy: Deploy,
) -> None:
    contrary = {"driver": {"enabled": False, "rdma": {"useHostMofed": True}}, "nfd": {"enabled": True}}

    def program() -> Any:
        args = GpuOperatorArgs(pools=[pool()], timeout_seconds=9, values=contrary)
        return GpuOperator("gpu-operator", args=args).state

    with pytest.raises(ValuesError) as refused:
        deploy(program)
    text = str(refused.value)
    assert "driver.enabled is False; it must be True" in text
    assert "driver.rdma.useHostMofed is True; it must be False" in text
    assert "nfd.enabled is True; it must be False" in text


def test_the_gpu_operator_owns_the_driver_with_rdma_against_the_operators_ofed(deploy: Deploy) -> None:
    program = lambda: GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=9)).state  # noqa: E731
    values = deploy(program).one(RELEASE).inputs["values"]
    assert values["driver"] == {"enabled": True, "rdma": {"enabled": True, "useHostMofed": False}}
    assert values["toolkit"]["env"] == [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]
    assert values["migManager"] == {"enabled": False}


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


def test_the_nic_cluster_policy_is_waited_for_under_the_one_name_the_operator_watches(deploy: Deploy) -> None:
    def program() -> Any:
        return NicClusterPolicy("policy", args=NicClusterPolicyArgs(pools=[pool()], timeout_seconds=1200)).state

    policy = deploy(program).one(POLICY)
    assert policy.inputs["metadata"]["name"] == "nic-cluster-policy"
    annotations = policy.inputs["metadata"]["annotations"]
    assert annotations["pulumi.com/waitFor"] == "jsonpath={.status.state}=ready"
    assert annotations["pulumi.com/timeoutSeconds"] == "1200"
    assert policy.parent == "policy"


def test_rdma_shared_hands_out_infiniband_devices_and_never_the_ethernet_one() -> None:
    plugin = nic_cluster_policy_spec([pool()])["rdmaSharedDevicePlugin"]
    assert json.loads(plugin["config"]) == {
        "configList": [
            {
                "resourceName": "shared_ib",
                "rdmaHcaMax": 63,
                "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]},
            }
        ]
    }


def test_the_ofed_driver_is_upgraded_one_drained_node_at_a_time_and_avoids_the_blacklist_race() -> None:
    driver = nic_cluster_policy_spec([pool()])["ofedDriver"]
    assert driver["upgradePolicy"]["maxParallelUpgrades"] == 1
    assert driver["upgradePolicy"]["drain"]["enable"] is True
    assert driver["env"] == [
        {"name": "OFED_BLACKLIST_MODULES_FILE", "value": "/host/etc/modprobe.d/blacklist-ofed-modules.conf"}
    ]


def test_the_policy_selects_the_nodes_of_the_stacks_pools_that_carry_an_adapter() -> None:
    affinity = nic_cluster_policy_spec([pool(), pool("Standard_HX176rs", "hx")])["nodeAffinity"]
    terms = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    present = {"key": "feature.node.kubernetes.io/pci-15b3.present", "operator": "In", "values": ["true"]}
    assert terms == [
        {"matchExpressions": [present, {"key": "kubernetes.azure.com/agentpool", "operator": "In", "values": [name]}]}
        for name in ("ndh100", "hx")
    ]


def test_telemetry_runs_on_amd64_only() -> None:
    assert "docaTelemetryService" in nic_cluster_policy_spec([pool()])
    assert "docaTelemetryService" not in nic_cluster_policy_spec([pool("Standard_ND128isr_GB300_v6", "gb")])


def test_every_wait_has_an_error_hook(deploy: Deploy) -> None:
    def program() -> Any:
        network_operator()
        GpuOperator("gpu-operator", args=GpuOperatorArgs(pools=[pool()], timeout_seconds=9))
        return NicClusterPolicy("policy", args=NicClusterPolicyArgs(pools=[pool()], timeout_seconds=9)).state

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
