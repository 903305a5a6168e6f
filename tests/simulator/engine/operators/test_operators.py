"""Charts and operators against a real API server, with machines that react to the operators' pods.

The tests share one cluster and go through its life in order: charts, policy, change, removal.
"""

import json
from copy import deepcopy
from typing import Any

import pytest
from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS
from aks_infiniband_cli.machine_by_machine.rollout.gate import let_go_when_back
from aks_infiniband_cli.machine_by_machine.rollout.hold import hold
from lightkube import Client, KubeConfig

from rehearsal.operators.plan import labels_of
from tests.rehearsal.simulated_nodes import GPU_NODES
from tests.simulator.engine.operators.documents import (
    CONFIG,
    IMAGE,
    POLICY,
    POLICY_NAME,
    RULE,
    WORKLOAD,
    attached_pod,
    gpu_policy_state,
    offers,
    policy_state,
    training,
)


def test_charts_bring_their_operators_and_one_feature_discovery(installed: Any) -> None:
    assert installed.names("deployments", "-n", "network-operator") == {
        "network-operator",
        "network-operator-node-feature-discovery-master",
        "network-operator-node-feature-discovery-gc",
    }
    assert installed.names("daemonsets", "-n", "network-operator") == {"network-operator-node-feature-discovery-worker"}
    assert installed.names("deployments", "-n", "gpu-operator") == {"gpu-operator"}


def test_charts_take_images_and_pull_secrets_from_their_values(installed: Any) -> None:
    for kind in ("deployments", "daemonsets"):
        for workload in installed.get(kind, "-n", "network-operator"):
            pod = workload["spec"]["template"]["spec"]
            assert pod["imagePullSecrets"] == [{"name": "mirror"}], workload["metadata"]["name"]
            assert pod["containers"][0]["image"].startswith("mirror.invalid/"), workload["metadata"]["name"]


def test_chart_makes_the_cluster_policy_from_its_values(installed: Any) -> None:
    spec = installed.get("clusterpolicies", "cluster-policy")["spec"]
    assert spec["driver"]["rdma"] == {"enabled": True, "useHostMofed": False}
    assert spec["driver"]["useNvidiaDriverCRD"] is False
    assert spec["driver"]["upgradePolicy"]["podDeletion"]["timeoutSeconds"] == 300
    assert spec["toolkit"]["enabled"] is True


def test_value_that_the_real_chart_lacks_fails_the_release_by_its_name(installed: Any) -> None:
    engine = installed.engine("wrong", {"typo=network-operator": {"nfd": {"enabld": True}}})
    succeeded, output = installed.pulumi(engine, "up", "--yes", "--skip-preview")
    assert not succeeded
    assert "enabld" in output
    assert installed.names("deployments", "-n", "typo") == set()


@pytest.mark.parametrize("repository", ["https://127.0.0.1:1/charts", "oci://127.0.0.1:1/charts"])
def test_chart_repository_that_is_down_is_named_by_the_provider_with_its_address_and_what_to_check(
    installed: Any, repository: str
) -> None:
    """Port 1, on which no process listens. The provider checks before it installs anything, and no hook is called."""
    engine = installed.engine(repository.partition(":")[0], {"down": {}}, repository=repository)
    succeeded, output = installed.pulumi(engine, "up", "--yes", "--skip-preview")
    assert not succeeded
    for words in ("Release resource 'down'", repository, "connection refused", "check the chart name and repository"):
        assert words in output


def test_field_that_a_policy_cannot_have_is_refused_by_its_name(installed: Any) -> None:
    wrong = deepcopy(POLICY)
    wrong["spec"]["ofedDriver"]["versoin"] = "v1"
    assert ".spec.ofedDriver.versoin: field not declared in schema" in installed.apply(wrong, fails=True)


def test_policy_is_not_ready_while_no_node_is_known_to_have_an_adapter(installed: Any) -> None:
    installed.apply(POLICY)
    installed.eventually(lambda: policy_state(installed) == "notReady")
    assert not [name for name in installed.names("daemonsets", "-n", "network-operator") if name.startswith("mofed")]


def test_rule_and_policy_lead_to_nodes_that_offer_adapters_and_gpus(installed: Any) -> None:
    installed.apply(RULE, POLICY)
    installed.eventually(lambda: policy_state(installed) == "ready")
    installed.eventually(lambda: offers(installed) == [("63", "8")] * 2)
    installed.eventually(lambda: gpu_policy_state(installed) == "ready")
    for name in GPU_NODES:
        labels = labels_of(installed.get("node", name))
        assert labels["network.nvidia.com/operator.mofed.wait"] == "false"
        assert labels["nvidia.com/ofed-driver-upgrade-state"] == "upgrade-done"
        assert labels["nvidia.com/gpu.present"] == "true"


def test_new_driver_version_drains_one_node_after_the_other_and_leaves_none_cordoned(installed: Any) -> None:
    installed.apply(WORKLOAD)
    (before,) = installed.eventually(lambda: training(installed))
    changed = deepcopy(POLICY)
    changed["spec"]["ofedDriver"]["version"] = "v2"

    def images() -> set[str]:
        pods = installed.get("pods", "-A", "-l", "nvidia.com/ofed-driver")
        return {pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in pods or ()}

    def done() -> bool:
        nodes = installed.get("nodes")
        states = {labels_of(node).get("nvidia.com/ofed-driver-upgrade-state") for node in nodes} - {None}
        return images() == {"v2-ubuntu24.04-amd64"} and states == {"upgrade-done"}

    with installed.cordons() as cordoned:
        installed.apply(changed)
        installed.eventually(done)
        installed.eventually(lambda: not cordoned()[-1])
        seen = cordoned()
    assert set().union(*seen) == set(GPU_NODES)
    assert all(len(together) <= 1 for together in seen), "one node at a time"
    installed.eventually(lambda: policy_state(installed) == "ready")
    (after,) = installed.eventually(lambda: training(installed))
    assert after != before, "it had to leave its node, and was started again"
    installed.kubectl("delete", "deployment", "training", "--timeout=120s")


def test_a_gpu_driver_stays_on_a_held_node_and_goes_back_on_the_first_before_the_other_is_released(
    installed: Any,
) -> None:
    gpu, (first, other) = DRIVERS["gpu"], sorted(GPU_NODES)
    client: Any = Client(KubeConfig.from_file(str(installed.control_plane.kubeconfig)))

    def loaded() -> Any:
        return gpu.loaded(installed.get("pods", "-n", "gpu-operator"))

    def states() -> list[str | None]:
        return [labels_of(installed.get("node", name)).get(gpu.state) for name in (first, other)]

    def change(version: str) -> None:
        patch = json.dumps({"spec": {"driver": {"version": version}}})
        installed.kubectl("patch", "clusterpolicies", "cluster-policy", "--type=merge", "--patch", patch)

    assert gpu.rolls_by_itself(client)
    before, (settled,) = loaded(), {installed.get("clusterpolicies", "cluster-policy")["spec"]["driver"]["version"]}
    assert set(before) == {first, other}
    hold(client, installed.get("node", other), gpu, first, gpu.namespace)
    change("595.91.07")
    installed.eventually(
        lambda: states() == ["upgrade-done", "upgrade-required"] and loaded().get(first) not in {None, before[first]}
    )
    now = loaded()
    assert "595.91.07" in now[first].image
    assert now[other] == before[other]
    pods = {pod["metadata"]["uid"] for pod in installed.get("pods", "-n", "gpu-operator") if gpu.loaded([pod])}
    change(settled)
    assert let_go_when_back(client) == [other]
    installed.eventually(lambda: states() == ["upgrade-done", "upgrade-done"] and loaded() == before)
    stayed = {pod["metadata"]["uid"] for pod in installed.get("pods", "-n", "gpu-operator") if gpu.loaded([pod])}
    assert len(pods & stayed) == 1, "the other node's driver was never replaced"


def test_ipoib_part_makes_the_second_network(installed: Any) -> None:
    changed = deepcopy(POLICY)
    changed["spec"]["ofedDriver"]["version"] = "v2"
    changed["spec"]["nvIpam"] = {**IMAGE, "image": "nvidia-k8s-ipam"}
    changed["spec"]["secondaryNetwork"] = {
        name: {**IMAGE, "image": name.lower()} for name in ("cniPlugins", "multus", "ipoib")
    }
    network = {
        "apiVersion": "mellanox.com/v1alpha1",
        "kind": "IPoIBNetwork",
        "metadata": {"name": "ib"},
        "spec": {
            "networkNamespace": "default",
            "master": "ibP257p0s0",
            "ipam": '{"type": "nv-ipam", "poolName": "ib"}',
        },
    }
    pool = {
        "apiVersion": "nv-ipam.nvidia.com/v1alpha1",
        "kind": "IPPool",
        "metadata": {"name": "ib", "namespace": "network-operator"},
        "spec": {"subnet": "192.168.0.0/20", "perNodeBlockSize": 32},
    }
    pools = {"ippools.nv-ipam.nvidia.com", "cidrpools.nv-ipam.nvidia.com"}
    assert not pools & installed.names("crds")
    installed.apply(changed, network)
    installed.eventually(lambda: pools <= installed.names("crds"))
    installed.eventually(lambda: "nv-ipam-node" in installed.names("daemonsets", "-n", "network-operator"))
    installed.eventually(lambda: policy_state(installed) == "ready")
    installed.eventually(lambda: installed.get("network-attachment-definitions", "ib", "-n", "default"))
    installed.apply(pool)
    installed.eventually(lambda: installed.get("ippools", "ib", "-n", "network-operator").get("status"))
    blocks = installed.get("ippools", "ib", "-n", "network-operator")["status"]["allocations"]
    assert {block["nodeName"] for block in blocks} >= set(GPU_NODES)
    installed.apply(attached_pod())
    attached = installed.eventually(
        lambda: (
            installed.get("pod", "attached", "-n", "default")["metadata"]
            .get("annotations", {})
            .get("k8s.v1.cni.cncf.io/network-status")
        )
    )
    assert [network["interface"] for network in json.loads(attached)[1:]] == ["net1"]
    installed.kubectl("delete", "pod", "attached", "--timeout=120s")


def test_part_that_leaves_the_policy_leaves_the_cluster(installed: Any) -> None:
    changed = deepcopy(POLICY)
    changed["spec"]["ofedDriver"]["version"] = "v2"
    del changed["spec"]["docaTelemetryService"]
    installed.apply(changed)
    left = {"doca-telemetry-service", "kube-multus-ds", "cni-plugins-ds", "nv-ipam-node"}
    installed.eventually(lambda: not left & installed.names("daemonsets", "-n", "network-operator"))


def test_a_node_policy_brings_its_own_nodes_what_the_cluster_policy_leaves_out(installed: Any) -> None:
    """The cluster's policy keeps the driver alone; one node shares its adapters, the other hands them out."""
    driver_only = deepcopy(POLICY)
    driver_only["spec"] = {key: POLICY["spec"][key] for key in ("nodeAffinity", "ofedDriver")}
    driver_only["spec"]["ofedDriver"] = {**POLICY["spec"]["ofedDriver"], "version": "v2"}
    selectors = {"vendors": ["15b3"], "linkTypes": ["infiniband"]}
    handed_out = {"resourcePrefix": "rdma", "resourceName": "ib", "selectors": selectors}
    sections = {
        "shared": {"rdmaSharedDevicePlugin": {**IMAGE, "image": "shared", "config": CONFIG}},
        "exclusive": {
            "sriovDevicePlugin": {**IMAGE, "image": "sriov", "config": json.dumps({"resourceList": [handed_out]})}
        },
    }
    policies: list[dict[str, Any]] = [
        {
            "apiVersion": "mellanox.com/v1alpha1",
            "kind": "NicNodePolicy",
            "metadata": {"name": name},
            "spec": {"nodeSelector": {"kubernetes.io/hostname": node}, **sections[name]},
        }
        for name, node in zip(sections, GPU_NODES, strict=True)
    ]
    installed.apply(driver_only, *policies)

    def resources() -> list[tuple[str | None, str | None]]:
        found = [installed.get("node", name)["status"]["allocatable"] for name in GPU_NODES]
        return [(offered.get("rdma/shared_ib"), offered.get("rdma/ib")) for offered in found]

    installed.eventually(lambda: resources() == [("63", None), ("0", "8")])

    def states() -> set[str]:
        return {(policy.get("status") or {}).get("state", "") for policy in installed.get("nicnodepolicies")}

    installed.eventually(lambda: states() == {"ready"})
    overlapping = deepcopy(policies[1])
    overlapping["spec"]["nodeSelector"] = {"kubernetes.io/os": "linux"}
    installed.apply(overlapping)
    installed.eventually(lambda: states() == {"error"})
    assert resources() == [("63", None), ("0", "8")], "nothing is changed while they overlap"
    installed.kubectl("delete", "nicnodepolicies", "--all", "--timeout=120s")
    installed.eventually(lambda: resources() == [("0", None), ("0", "0")])


def test_operator_that_is_gone_leaves_the_policy_alone_and_takes_its_own_along(installed: Any) -> None:
    engine = installed.engine("charts", {"network-operator": {"nfd": {"deployNodeFeatureRules": False}}})
    succeeded, output = installed.pulumi(engine, "up", "--yes", "--skip-preview")
    assert succeeded, output
    installed.eventually(
        lambda: not installed.names("daemonsets", "-A", "-l", "app.kubernetes.io/managed-by=gpu-operator")
    )
    assert installed.get("runtimeclasses", "nvidia") is None
    assert policy_state(installed) == "ready"


def test_deleted_policy_takes_its_daemon_sets_along_and_nothing_hangs(installed: Any) -> None:
    installed.kubectl("delete", "nicclusterpolicies", POLICY_NAME, "--timeout=120s")
    installed.eventually(
        lambda: (
            installed.names("daemonsets", "-n", "network-operator")
            == {"network-operator-node-feature-discovery-worker"}
        )
    )
    succeeded, output = installed.pulumi(installed.engine("charts", {}), "destroy", "--yes", "--skip-preview")
    assert succeeded, output
    assert installed.names("daemonsets", "-A") == set()
