"""Operators that are not the rehearsal's: they act on the real custom resources with the real objects' names.

The operators stand for NVIDIA's own, which can be run in a rehearsal; they share only the API server with the
stand-ins. Written down from what Network Operator 26.4.1 and GPU Operator 26.3.3 create.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from httpx2 import HTTPError
from lightkube import ApiError, Client
from lightkube.generic_resource import create_global_resource
from lightkube.resources.apps_v1 import DaemonSet
from lightkube.resources.core_v1 import ConfigMap, Node, Pod
from lightkube.types import PatchType

NicClusterPolicy = create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies")
ClusterPolicy = create_global_resource("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies")
NIC = "feature.node.kubernetes.io/pci-15b3.present"
GPU = "feature.node.kubernetes.io/pci-10de.present"
OFED_WAIT = "network.nvidia.com/operator.mofed.wait"
TOOLKIT = "container-toolkit"
GPU_OPERANDS = {
    "driver": ("nvidia-driver-daemonset", [], ["nvidia-driver-ctr", "nvidia-peermem-ctr"]),
    TOOLKIT: (
        "nvidia-container-toolkit-daemonset",
        ["driver-validation"],
        ["nvidia-container-toolkit-ctr"],
    ),
    "device-plugin": ("nvidia-device-plugin-daemonset", ["toolkit-validation"], ["nvidia-device-plugin"]),
}


@contextmanager
def running(connect: Callable[[], Client]) -> Iterator[None]:
    """Both operators, working in the background until the block ends."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.3):
            try:
                client = connect()
                _network_operator(client)
                _gpu_operator(client)
            except (ApiError, HTTPError):
                continue  # definitions, namespaces and policies come later; a conflict is tried again

    thread = threading.Thread(target=work, name="foreign-operators")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _network_operator(client: Client) -> None:
    for policy in client.list(NicClusterPolicy):
        with_nic = list(client.list(Node, labels={NIC: "true"}))
        for node in with_nic:
            ready = any(_is_ready(pod) for pod in _pods(client, node, "nvidia.com/ofed-driver"))
            _label(client, node, {OFED_WAIT: "false" if ready else "true"})
        data = {"config.json": policy["spec"]["rdmaSharedDevicePlugin"]["config"]}
        config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "rdma-devices"}, "data": data}
        _apply(client, config, "network-operator")
        volume = {
            "name": "config",
            "configMap": {"name": "rdma-devices", "items": [{"key": "config.json", "path": "config.json"}]},
        }
        ofed = "mofed-ubuntu24.04-7c5b6f4d8c"
        sets = [
            _daemon_set(f"{ofed}-ds", {"app": ofed, "nvidia.com/ofed-driver": ""}, {NIC: "true"}, ["mofed-container"]),
            _daemon_set(
                "rdma-shared-dp-ds",
                {"app": "rdma-shared-dp"},
                {NIC: "true", OFED_WAIT: "false"},
                ["rdma-shared-dp"],
                volumes=[volume],
            ),
        ]
        done = [_apply(client, daemon_set, "network-operator") for daemon_set in sets]
        _set_state(client, NicClusterPolicy, policy, "ready" if with_nic and all(done) else "notReady")


def _gpu_operator(client: Client) -> None:
    for policy in client.list(ClusterPolicy):
        for node in client.list(Node, labels={GPU: "true"}):
            _label(client, node, {f"nvidia.com/gpu.deploy.{operand}": "true" for operand in GPU_OPERANDS})
        environment = {TOOLKIT: policy["spec"]["toolkit"]["env"]}
        sets = [
            _daemon_set(
                name,
                {"app": name},
                {f"nvidia.com/gpu.deploy.{operand}": "true"},
                containers,
                init=init,
                env=environment.get(operand),
            )
            for operand, (name, init, containers) in GPU_OPERANDS.items()
        ]
        done = [_apply(client, daemon_set, "gpu-operator") for daemon_set in sets]
        _set_state(client, ClusterPolicy, policy, "ready" if all(done) else "notReady")


def _daemon_set(
    name: str,
    labels: dict[str, str],
    selector: dict[str, str],
    containers: list[str],
    *,
    init: list[str] | None = None,
    env: list[dict[str, str]] | None = None,
    volumes: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    pod = {
        "nodeSelector": selector,
        "initContainers": [{"name": item, "image": "registry.invalid/x"} for item in init or []],
        "containers": [
            {"name": container, "image": "registry.invalid/x", "env": env or []} for container in containers
        ],
        "volumes": volumes or [],
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def _apply(client: Client, document: dict[str, Any], namespace: str) -> bool:
    """True if the object is as it should be on every node that it is for."""
    placed = {**document, "metadata": {**document["metadata"], "namespace": namespace}}
    classes: dict[str, Any] = {"ConfigMap": ConfigMap, "DaemonSet": DaemonSet}
    applied = client.apply(classes[document["kind"]].from_dict(placed), field_manager="foreign", force=True)
    if document["kind"] == "ConfigMap":
        return True
    status = applied.status
    return status is not None and (status.numberReady or 0) == status.desiredNumberScheduled


def _pods(client: Client, node: Node, label: str) -> Iterator[Pod]:
    assert node.metadata
    return iter(
        client.list(Pod, namespace="*", labels={label: None}, fields={"spec.nodeName": str(node.metadata.name)})
    )


def _is_ready(pod: Pod) -> bool:
    conditions = (pod.status.conditions if pod.status else None) or []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def _label(client: Client, node: Node, labels: dict[str, str]) -> None:
    assert node.metadata
    client.patch(Node, str(node.metadata.name), {"metadata": {"labels": labels}})


def _set_state(client: Client, kind: Any, policy: Any, state: str) -> None:
    if (policy.get("status") or {}).get("state") != state:
        client.patch(kind.Status, policy.metadata.name, {"status": {"state": state}}, patch_type=PatchType.MERGE)
