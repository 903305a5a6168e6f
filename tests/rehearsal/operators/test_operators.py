"""Charts and operators against a real API server, with machines that react to the operators' pods.

The tests share one cluster and go through its life in order: charts, policy, change, removal.
"""

from copy import deepcopy
from typing import Any

from rehearsal.operators.plan import labels_of
from tests.rehearsal.simulated_nodes import GPU_NODES

POLICY_NAME = "nic-cluster-policy"
RULE = {
    "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
    "kind": "NodeFeatureRule",
    "metadata": {"name": "adapters"},
    "spec": {
        "rules": [
            {
                "name": "virtual functions",
                "labels": {"feature.node.kubernetes.io/pci-15b3.present": "true"},
                "matchFeatures": [
                    {
                        "feature": "pci.device",
                        "matchExpressions": {
                            "vendor": {"op": "In", "value": ["15b3"]},
                            "device": {"op": "In", "value": ["101e"]},
                        },
                    }
                ],
            }
        ]
    },
}
IMAGE = {"repository": "registry.invalid/x", "version": "v1"}
CONFIG = (
    '{"configList": [{"resourceName": "shared_ib", "rdmaHcaMax": 63,'
    ' "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]}}]}'
)
POLICY: dict[str, Any] = {
    "apiVersion": "mellanox.com/v1alpha1",
    "kind": "NicClusterPolicy",
    "metadata": {"name": POLICY_NAME},
    "spec": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {
                                "key": "feature.node.kubernetes.io/pci-15b3.present",
                                "operator": "In",
                                "values": ["true"],
                            }
                        ]
                    }
                ]
            }
        },
        "ofedDriver": {
            **IMAGE,
            "image": "doca-driver",
            "env": [{"name": "OFED_BLACKLIST_MODULES_FILE", "value": "/host/etc/modprobe.d/blacklist.conf"}],
            "startupProbe": {"initialDelaySeconds": 10, "periodSeconds": 20},
            "upgradePolicy": {"autoUpgrade": True, "maxParallelUpgrades": 1},
        },
        "rdmaSharedDevicePlugin": {**IMAGE, "image": "k8s-rdma-shared-dev-plugin", "config": CONFIG},
        "docaTelemetryService": {**IMAGE, "image": "doca_telemetry"},
    },
}


def policy_state(installed: Any) -> str:
    policy = installed.get("nicclusterpolicies", POLICY_NAME)
    return str((policy.get("status") or {}).get("state"))


def gpu_policy_state(installed: Any) -> str:
    return str((installed.get("clusterpolicies", "cluster-policy").get("status") or {}).get("state"))


def offers(installed: Any) -> list[tuple[str | None, str | None]]:
    found = [installed.get("node", name)["status"]["allocatable"] for name in GPU_NODES]
    return [(allocatable.get("rdma/shared_ib"), allocatable.get("nvidia.com/gpu")) for allocatable in found]


def test_charts_bring_their_operators_and_one_feature_discovery(installed: Any) -> None:
    assert installed.names("deployments", "-n", "network-operator") == {
        "network-operator",
        "network-operator-node-feature-discovery-master",
        "network-operator-node-feature-discovery-gc",
    }
    assert installed.names("daemonsets", "-n", "network-operator") == {"network-operator-node-feature-discovery-worker"}
    assert installed.names("deployments", "-n", "gpu-operator") == {"gpu-operator"}


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


def test_new_driver_version_reaches_every_node_and_leaves_none_cordoned(installed: Any) -> None:
    changed = deepcopy(POLICY)
    changed["spec"]["ofedDriver"]["version"] = "v2"
    installed.apply(changed)

    def images() -> set[str]:
        pods = installed.get("pods", "-A", "-l", "nvidia.com/ofed-driver")
        return {pod["spec"]["containers"][0]["image"].rpartition(":")[2] for pod in pods or ()}

    installed.eventually(lambda: images() == {"v2-ubuntu24.04-amd64"})
    installed.eventually(lambda: policy_state(installed) == "ready")
    installed.eventually(lambda: not any(n["spec"].get("unschedulable") for n in installed.get("nodes")))


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
        "spec": {"networkNamespace": "default", "master": "ibP257p0s0", "ipam": '{"type": "nv-ipam"}'},
    }
    pools = {"ippools.nv-ipam.nvidia.com", "cidrpools.nv-ipam.nvidia.com"}
    assert not pools & installed.names("crds")
    installed.apply(changed, network)
    installed.eventually(lambda: pools <= installed.names("crds"))
    installed.eventually(lambda: "nv-ipam-node" in installed.names("daemonsets", "-n", "network-operator"))
    installed.eventually(lambda: policy_state(installed) == "ready")
    installed.eventually(lambda: installed.get("network-attachment-definitions", "ib", "-n", "default"))


def test_part_that_leaves_the_policy_leaves_the_cluster(installed: Any) -> None:
    changed = deepcopy(POLICY)
    changed["spec"]["ofedDriver"]["version"] = "v2"
    del changed["spec"]["docaTelemetryService"]
    installed.apply(changed)
    left = {"doca-telemetry-service", "kube-multus-ds", "cni-plugins-ds", "nv-ipam-node"}
    installed.eventually(lambda: not left & installed.names("daemonsets", "-n", "network-operator"))


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
    installed.kubectl("delete", "nicclusterpolicies", POLICY_NAME, "--timeout=20s")
    installed.eventually(
        lambda: (
            installed.names("daemonsets", "-n", "network-operator")
            == {"network-operator-node-feature-discovery-worker"}
        )
    )
    succeeded, output = installed.pulumi(installed.engine("charts", {}), "destroy", "--yes", "--skip-preview")
    assert succeeded, output
    assert installed.names("daemonsets", "-A") == set()
