"""Second networks: pods are attached to IPoIB networks if all their needs are there; on a real API server."""

import json
from typing import Any

import pytest
from lightkube.resources.core_v1 import Event

from rehearsal.watch.kinds import RESOURCES

from .conftest import Rehearsed
from .jobs import output, python

ANNOTATION = "k8s.v1.cni.cncf.io/networks"
STATUS = "k8s.v1.cni.cncf.io/network-status"
LABEL = {"batch.kubernetes.io/job-name": "app"}
INTERFACES = (
    "import os; print(*[n + '=' + open('/sys/class/net/' + n + '/type').read().strip()"
    " for n in sorted(os.listdir('/sys/class/net'))])"
)
PARTS: dict[str, dict[str, str]] = {
    "multus": {"app": "multus"},
    "ipoib": {"app": "ipoib-cni"},
    "agent": {"app": "nv-ipam", "name": "nv-ipam-node"},
    "controller": {"app": "nv-ipam", "name": "nv-ipam-controller"},
    "modules": {"app.kubernetes.io/name": "node-preparation"},
}


def start(cluster: Rehearsed, *parts: str) -> None:
    """Run these parts on the machines, until they are ready."""
    for name in parts:
        container = {"name": name, "image": "x", "args": ["modprobe ib_ipoib"] if name == "modules" else []}
        cluster.daemon_set(name, PARTS[name], containers=[container])
    cluster.eventually(lambda: all(ready(cluster, **PARTS[name]) for name in parts))


def ready(cluster: Rehearsed, **labels: str) -> list[dict[str, Any]]:
    return [
        pod
        for pod in cluster.pods(**labels)
        if any(
            condition["type"] == "Ready" and condition["status"] == "True"
            for condition in pod["status"].get("conditions", [])
        )
    ]


def network(cluster: Rehearsed, *, master: str = "ibP257p0s0", pool: str = "pool") -> None:
    config = {"cniVersion": "0.3.1", "name": "ib", "type": "ipoib", "master": master}
    config["ipam"] = {"type": "nv-ipam", "poolName": pool}  # type: ignore[assignment]
    cluster.create(
        {
            "apiVersion": "k8s.cni.cncf.io/v1",
            "kind": "NetworkAttachmentDefinition",
            "metadata": {"name": "ib"},
            "spec": {"config": json.dumps(config)},
        }
    )


def address_pool(cluster: Rehearsed, block: int = 8) -> None:
    cluster.create(
        {
            "apiVersion": "nv-ipam.nvidia.com/v1alpha1",
            "kind": "IPPool",
            "metadata": {"name": "pool"},
            "spec": {"subnet": "192.168.0.0/24", "gateway": "192.168.0.1", "perNodeBlockSize": block},
        }
    )


def application(cluster: Rehearsed, **spec: Any) -> None:
    """A Job of one pod that requests the network and prints its interfaces."""
    template = {
        "metadata": {"annotations": {ANNOTATION: "ib"}},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.azure.com/agentpool": cluster.pool},
            "containers": [{"name": "main", "image": "x", **python(INTERFACES)}],
        },
    }
    job = {"backoffLimit": 0, "template": template, **spec}
    cluster.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "app"}, "spec": job})


def complaints(cluster: Rehearsed) -> str:
    found = cluster.client.list(Event, namespace=cluster.namespace)
    return "\n".join(item.message or "" for item in found if item.reason == "FailedCreatePodSandBox")


def ended(cluster: Rehearsed) -> list[dict[str, Any]]:
    return [pod for pod in cluster.pods(**LABEL) if pod["status"].get("phase") in {"Succeeded", "Failed"}]


def status_of(pod: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(pod["metadata"]["annotations"][STATUS])
    return found


def test_a_pod_waits_for_each_thing_that_its_network_needs_and_then_has_the_interface(
    cluster: Rehearsed, own_machine: str
) -> None:
    start(cluster, "multus")
    application(cluster)
    cluster.eventually(lambda: "cannot find a network-attachment-definition (ib)" in complaints(cluster))
    network(cluster)
    cluster.eventually(lambda: 'failed to find plugin "ipoib"' in complaints(cluster))
    start(cluster, "ipoib")
    cluster.eventually(lambda: 'failed to lookup master "ibP257p0s0": Link not found' in complaints(cluster))
    start(cluster, "modules")
    cluster.eventually(lambda: 'failed to find plugin "nv-ipam"' in complaints(cluster))
    start(cluster, "agent")
    cluster.eventually(lambda: 'configuration for pool "pool" not found' in complaints(cluster))
    address_pool(cluster)
    cluster.eventually(lambda: f'pool "pool" has no block for node {own_machine}' in complaints(cluster))
    assert cluster.pods(**LABEL)[0]["status"]["phase"] == "Pending"
    start(cluster, "controller")
    pod = cluster.eventually(lambda: ended(cluster))[0]
    assert output(cluster, pod) == "eth0=1 net1=32\n"
    default, infiniband = status_of(pod)
    assert default["ips"] == [pod["status"]["podIP"]]
    assert (infiniband["name"], infiniband["interface"]) == (f"{cluster.namespace}/ib", "net1")
    assert infiniband["ips"][0].startswith("192.168.0.")


def test_each_node_has_a_block_and_each_pod_an_address_of_its_nodes_block(cluster: Rehearsed, own_machine: str) -> None:
    start(cluster, *PARTS)
    network(cluster)
    address_pool(cluster, block=4)
    template = {"metadata": {"labels": {"app": "web"}, "annotations": {ANNOTATION: f"{cluster.namespace}/ib"}}}
    container = {"name": "main", "image": "registry.invalid/main"}
    selector = {"kubernetes.azure.com/agentpool": cluster.pool}
    cluster.create(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web"},
            "spec": {
                "replicas": 5,
                "selector": {"matchLabels": {"app": "web"}},
                "template": template | {"spec": {"nodeSelector": selector, "containers": [container]}},
            },
        }
    )
    cluster.eventually(lambda: len(ready(cluster, app="web")) == 4)
    cluster.eventually(lambda: "no free addresses" in complaints(cluster))
    pools = cluster.client.get(RESOURCES["IPPool"], "pool", namespace=cluster.namespace)
    block = next(block for block in pools["status"]["allocations"] if block["nodeName"] == own_machine)
    addresses = {status_of(pod)[1]["ips"][0] for pod in ready(cluster, app="web")}
    assert len(addresses) == 4
    first, last = (int(block[key].rpartition(".")[2]) for key in ("startIP", "endIP"))
    assert all(first <= int(item.rpartition(".")[2]) <= last for item in addresses)


@pytest.mark.usefixtures("own_machine")
def test_without_multus_the_annotation_is_read_by_nobody(cluster: Rehearsed) -> None:
    application(cluster)
    pod = cluster.eventually(lambda: ended(cluster))[0]
    assert output(cluster, pod) == "eth0=1\n"
    assert STATUS not in pod["metadata"]["annotations"]
