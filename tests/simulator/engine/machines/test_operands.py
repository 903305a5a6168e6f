"""The effects of operators' pods on their machine, on a real API server."""

import json
from typing import Any

from lightkube import codecs
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType, PatchType

from rehearsal.machines.pods.status import is_ready
from rehearsal.watch.kinds import RESOURCES
from tests.rehearsal.simulated_nodes import GPU_NODES, SYSTEM_NODE

from .conftest import ON_AKS, Rehearsed

NODE = GPU_NODES[0]
PCI_15B3 = "feature.node.kubernetes.io/pci-15b3.present"
SHARED = {
    "configList": [
        {"resourceName": "shared_ib", "rdmaHcaMax": 63, "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"]}}
    ]
}


def config_volume(name: str, key: str) -> dict[str, Any]:
    return {"name": "config", "configMap": {"name": name, "items": [{"key": key, "path": key}]}}


def feature_discovery(cluster: Rehearsed) -> None:
    cluster.config_map(
        "worker-conf",
        {"nfd-worker.conf": "sources: {pci: {deviceClassWhitelist: ['0302'], deviceLabelFields: [vendor]}}"},
    )
    nfd = {"app.kubernetes.io/name": "node-feature-discovery"}
    cluster.daemon_set("master", nfd | {"role": "master"}, nodeSelector={"kubernetes.azure.com/agentpool": "system"})
    cluster.daemon_set(
        "worker", nfd | {"role": "worker"}, nodeSelector={}, volumes=[config_volume("worker-conf", "nfd-worker.conf")]
    )


def rule(classes: list[str]) -> dict[str, Any]:
    """A rule for adapters of these PCI classes: the device ID, 101e, is that of Ethernet and of InfiniBand."""
    expected = {"vendor": "15b3", "device": "101e"}
    matches = {
        **{key: {"op": "In", "value": [value]} for key, value in expected.items()},
        "class": {"op": "In", "value": classes},
    }
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": {"name": "nics"},
        "spec": {
            "rules": [
                {
                    "name": "infiniband",
                    "labels": {PCI_15B3: "true"},
                    "matchFeatures": [{"feature": "pci.device", "matchExpressions": matches}],
                }
            ]
        },
    }


def labels(cluster: Rehearsed, node: str = NODE) -> dict[str, str]:
    found: dict[str, str] = cluster.node(node)["metadata"]["labels"]
    return found


def test_feature_labels_follow_the_rules(cluster: Rehearsed) -> None:
    feature_discovery(cluster)
    cluster.eventually(lambda: "feature.node.kubernetes.io/pci-10de.present" in labels(cluster))
    assert PCI_15B3 not in labels(cluster)
    cluster.client.create(codecs.from_dict(rule(["0207"])))
    cluster.eventually(lambda: labels(cluster).get(PCI_15B3) == "true")
    assert PCI_15B3 not in labels(cluster, SYSTEM_NODE), "its mlx5 is the Ethernet one"
    cluster.client.patch(RESOURCES["NodeFeatureRule"], "nics", rule(["0200", "0207"]), patch_type=PatchType.MERGE)
    cluster.eventually(lambda: labels(cluster, SYSTEM_NODE).get(PCI_15B3) == "true")
    cluster.client.delete(RESOURCES["NodeFeatureRule"], "nics")
    cluster.eventually(lambda: PCI_15B3 not in labels(cluster))


def test_no_feature_label_without_a_master(cluster: Rehearsed) -> None:
    cluster.daemon_set("worker", {"app.kubernetes.io/name": "node-feature-discovery", "role": "worker"})
    cluster.eventually(lambda: len(cluster.pods()) == 2 and all(is_ready(pod) for pod in cluster.pods()))
    before = cluster.node(NODE)["metadata"]["resourceVersion"]
    cluster.client.create(codecs.from_dict(rule(["0207"])))
    assert PCI_15B3 not in labels(cluster)
    assert cluster.node(NODE)["metadata"]["resourceVersion"] == before


def prepare_nodes(cluster: Rehearsed, script: str = "modprobe --all ib_umad rdma_ucm ib_ipoib") -> None:
    """The DaemonSet of this project that prepares nodes."""
    preparation = [{"name": "prepare", "image": "x", "command": ["sh", "-c", script]}]
    cluster.daemon_set("preparation", {"app.kubernetes.io/name": "node-preparation"}, containers=preparation)


def test_the_shared_plugin_offers_devices_only_once_their_character_devices_are_there(
    cluster: Rehearsed, own_machine: str
) -> None:
    cluster.config_map("rdma-devices", {"config.json": json.dumps(SHARED)})
    cluster.daemon_set("rdma", {"app": "rdma-shared-dp-hb"}, volumes=[config_volume("rdma-devices", "config.json")])
    cluster.eventually(lambda: cluster.pods() and all(is_ready(pod) for pod in cluster.pods()))
    cluster.eventually(lambda: cluster.allocatable(own_machine, "rdma/shared_ib") == "0")
    cluster.daemon_set("mofed", {"nvidia.com/ofed-driver": ""})
    cluster.eventually(lambda: cluster.allocatable(own_machine, "rdma/shared_ib") == "63")
    cluster.client.delete(DaemonSet, "mofed", namespace=cluster.namespace, cascade=CascadeType.BACKGROUND)
    cluster.eventually(lambda: cluster.allocatable(own_machine, "rdma/shared_ib") == "0")


def test_shared_devices_follow_the_plugin_and_its_config_map(cluster: Rehearsed) -> None:
    cluster.daemon_set("mofed", {"nvidia.com/ofed-driver": ""})
    cluster.config_map("rdma-devices", {"config.json": json.dumps(SHARED)})
    cluster.daemon_set("rdma", {"app": "rdma-shared-dp"}, volumes=[config_volume("rdma-devices", "config.json")])
    cluster.eventually(lambda: cluster.allocatable(NODE, "rdma/shared_ib") == "63")
    wrong = json.loads(json.dumps(SHARED))
    wrong["configList"][0]["selectors"]["vendors"] = ["8086"]
    cluster.config_map("rdma-devices", {"config.json": json.dumps(wrong)})
    cluster.eventually(lambda: cluster.allocatable(NODE, "rdma/shared_ib") == "0")
    cluster.config_map("rdma-devices", {"config.json": json.dumps(SHARED)})
    cluster.eventually(lambda: cluster.allocatable(NODE, "rdma/shared_ib") == "63")
    cluster.client.delete(DaemonSet, "rdma", namespace=cluster.namespace, cascade=CascadeType.BACKGROUND)
    cluster.eventually(lambda: cluster.allocatable(NODE, "rdma/shared_ib") == "0")


def test_exclusive_devices_are_counted_per_hca(cluster: Rehearsed, own_machine: str) -> None:
    entry = {
        "resourcePrefix": "rdma",
        "resourceName": "ib",
        "selectors": {"vendors": ["15b3"], "linkTypes": ["infiniband"], "isRdma": True},
    }
    prepare_nodes(cluster, "modprobe ib_ipoib")
    cluster.config_map("sriovdp-config", {"config.json": json.dumps({"resourceList": [entry]})})
    cluster.daemon_set("sriov", {"app": "sriovdp"}, volumes=[config_volume("sriovdp-config", "config.json")])
    cluster.eventually(lambda: cluster.allocatable(own_machine, "rdma/ib") == "8")


def test_gpu_operands_wait_for_one_another(cluster: Rehearsed) -> None:
    peermem = [{"name": name, "image": "x"} for name in ("nvidia-driver-ctr", "nvidia-peermem-ctr")]
    cluster.daemon_set("driver", {"app": "nvidia-driver-daemonset"}, containers=peermem)
    validation = [{"name": "driver-validation", "image": "x"}]
    from_file = [{"name": "RUNTIME_CONFIG_SOURCE", "value": "file"}]  # without it, containerd 2 does not start again
    toolkit = [{"name": "nvidia-container-toolkit-ctr", "image": "x", "env": from_file}]
    labels = {"app": "nvidia-container-toolkit-daemonset"}
    cluster.daemon_set("toolkit", labels, initContainers=validation, containers=toolkit)
    plugin = [{"name": "toolkit-validation", "image": "x"}]
    cluster.daemon_set("plugin", {"app": "nvidia-device-plugin-daemonset"}, initContainers=plugin)
    cluster.eventually(
        lambda: all("running" in init_state(pod) for pod in cluster.pods(app="nvidia-device-plugin-daemonset"))
    )
    cluster.eventually(lambda: all(phase(pod) == "Running" for pod in cluster.pods(app="nvidia-driver-daemonset")))
    assert not any(is_ready(pod) for pod in cluster.pods()), "the driver waits for OFED, the others for the driver"
    cluster.daemon_set("mofed", {"nvidia.com/ofed-driver": ""})
    cluster.eventually(lambda: cluster.allocatable(NODE, "nvidia.com/gpu") == "8")
    cluster.eventually(lambda: all(is_ready(pod) for pod in cluster.pods()))


def test_a_driver_without_its_hardware_crashes(cluster: Rehearsed) -> None:
    system = {"kubernetes.azure.com/agentpool": "system"}
    cluster.daemon_set("driver", {"app": "nvidia-driver-daemonset"}, nodeSelector=system)
    status = cluster.eventually(lambda: [pod for pod in cluster.pods() if reason(pod) == "CrashLoopBackOff"])[0][
        "status"
    ]
    assert "No NVIDIA GPU" in status["containerStatuses"][0]["lastState"]["terminated"]["message"]


def test_azures_driver_and_toolkit_are_there_without_the_operators(cluster: Rehearsed, machine_of_aks: str) -> None:
    validation = [{"name": name, "image": "x"} for name in ("driver-validation", "toolkit-validation")]
    cluster.daemon_set("plugin", {"app": "nvidia-device-plugin-daemonset"}, initContainers=validation, **ON_AKS)
    cluster.eventually(lambda: cluster.allocatable(machine_of_aks, "nvidia.com/gpu") == "8")


def test_a_second_driver_on_top_of_azures_breaks_the_node(cluster: Rehearsed, machine_of_aks: str) -> None:
    cluster.daemon_set("driver", {"app": "nvidia-driver-daemonset"}, **ON_AKS)

    def ready() -> dict[str, Any]:
        conditions = cluster.node(machine_of_aks)["status"].get("conditions") or []
        return next((condition for condition in conditions if condition["type"] == "Ready"), {})

    cluster.eventually(lambda: ready().get("status") == "False")
    assert "driver is in use" in ready()["message"]
    crashed = cluster.eventually(lambda: [pod for pod in cluster.pods() if reason(pod) == "CrashLoopBackOff"])
    assert "of its own" in crashed[0]["status"]["containerStatuses"][0]["lastState"]["terminated"]["message"]


def test_other_pods_run_by_themselves(cluster: Rehearsed) -> None:
    cluster.daemon_set("cni", {"app": "cni-plugins"}, initContainers=[{"name": "install", "image": "x"}])
    cluster.eventually(lambda: len(cluster.pods()) == 2 and all(is_ready(pod) for pod in cluster.pods()))


def phase(pod: dict[str, Any]) -> str:
    return str(pod["status"]["phase"])


def init_state(pod: dict[str, Any]) -> dict[str, Any]:
    state: dict[str, Any] = pod["status"].get("initContainerStatuses", [{"state": {}}])[0]["state"]
    return state


def reason(pod: dict[str, Any]) -> str | None:
    statuses = pod["status"].get("containerStatuses") or [{}]
    found: str | None = statuses[0].get("state", {}).get("waiting", {}).get("reason")
    return found


def test_a_pod_that_the_node_lifecycle_controller_called_unready_is_ready_again(cluster: Rehearsed) -> None:
    """As it does if the machines, or this computer, were silent for longer than a node may be."""
    cluster.daemon_set("cni", {"app": "cni-plugins"})
    cluster.eventually(lambda: list(map(is_ready, cluster.pods())) == [True] * 2)
    called = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    name = cluster.pods()[0]["metadata"]["name"]
    unready = cluster.client.patch(Pod.Status, name, called, namespace=cluster.namespace)
    assert not is_ready(unready.to_dict())
    cluster.eventually(lambda: list(map(is_ready, cluster.pods())) == [True] * 2)
