"""A cluster of documents: what the API server would show an operator."""

from collections.abc import Callable
from typing import Any

import pytest

from rehearsal.operators.gpu import reconcile as gpu
from rehearsal.operators.network import reconcile as network
from rehearsal.operators.plan import Plan, Snapshot
from rehearsal.operators.workloads import pods_of

Document = dict[str, Any]
KERNEL = "6.8.0-1025-azure"


class Cluster:
    """Objects by kind, and the little of the API server and the DaemonSet controller that the reconciles rely on."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Document]] = {}
        self._uid = 0

    def add(self, document: Document) -> Document:
        metadata = document["metadata"]
        self._uid += 1
        metadata.setdefault("uid", f"uid-{self._uid}")
        metadata.setdefault("creationTimestamp", f"2026-01-01T00:00:{self._uid:02d}Z")
        self.objects.setdefault(document["kind"], {})[metadata["name"]] = document
        return document

    def operator(self, name: str, labels: dict[str, str], *, available: bool = True) -> Document:
        env = [{"name": "OFED_INIT_CONTAINER_IMAGE", "value": "registry/init:v1"}]
        container = {"name": name, "image": f"registry/{name}:v9", "env": env}
        return self.add(
            {
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": name, "labels": labels, "generation": 1},
                "spec": {"template": {"spec": {"containers": [container]}}},
                "status": {
                    "observedGeneration": 1,
                    "conditions": [{"type": "Available", "status": str(available)}],
                },
            }
        )

    def node(self, name: str, *, nic: bool = True, gpu: bool = False, kernel: str = KERNEL) -> Document:
        prefix = "feature.node.kubernetes.io/"
        labels = {
            "kubernetes.io/arch": "amd64",
            f"{prefix}system-os_release.ID": "ubuntu",
            f"{prefix}system-os_release.VERSION_ID": "24.04",
            f"{prefix}kernel-version.full": kernel,
        }
        if nic:
            labels[f"{prefix}pci-15b3.present"] = "true"
        if gpu:
            labels[f"{prefix}pci-10de.present"] = "true"
        status = {"nodeInfo": {"containerRuntimeVersion": "containerd://2.0.0"}}
        return self.add({"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {}, "status": status})

    def policy(self, spec: Document, *, kind: str = "NicClusterPolicy", name: str = "nic-cluster-policy") -> Document:
        version = "nvidia.com/v1" if kind == "ClusterPolicy" else "mellanox.com/v1alpha1"
        return self.add({"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec})

    def snapshot(self) -> Snapshot:
        return Snapshot({kind: list(objects.values()) for kind, objects in self.objects.items()})

    def obey(self, plan: Plan) -> None:
        """Carry out a plan."""
        for document in plan.objects:
            old = self.objects.get(document["kind"], {}).get(document["metadata"]["name"])
            kept = {"status": old["status"]} if old and "status" in old else {}
            uid = {"uid": old["metadata"]["uid"]} if old else {}
            generation = {"generation": (old["metadata"].get("generation", 0) if old else 0) + 1}
            self.add({**document, **kept, "metadata": {**document["metadata"], **uid, **generation}})
        for document in [*plan.deletions, *plan.evictions]:
            del self.objects[document["kind"]][document["metadata"]["name"]]
        for name, annotations in plan.node_annotations.items():
            has = self.objects["Node"][name]["metadata"].setdefault("annotations", {})
            has.update(annotations)
            for key in [key for key, value in annotations.items() if value is None]:
                has.pop(key, None)
        for name, labels in plan.node_labels.items():
            has = self.objects["Node"][name]["metadata"]["labels"]
            has.update({key: value for key, value in labels.items() if value is not None})
            for key in [key for key, value in labels.items() if value is None]:
                has.pop(key, None)
        for name, unschedulable in plan.cordons.items():
            self.objects["Node"][name]["spec"]["unschedulable"] = unschedulable
        for document, left in plan.annotations:
            document["metadata"]["annotations"] = left
        for document, status in plan.statuses:
            document["status"] = status

    def scheduled(self, daemon_set: str, desired: int, ready: int | None = None, updated: int | None = None) -> None:
        """The DaemonSet controller's words on a DaemonSet now."""
        document = self.objects["DaemonSet"][daemon_set]
        document["status"] = {
            "observedGeneration": document["metadata"]["generation"],
            "desiredNumberScheduled": desired,
            "numberAvailable": desired if ready is None else ready,
            "updatedNumberScheduled": desired if updated is None else updated,
        }

    def revision(self, daemon_set: str, number: int) -> str:
        """A new template of a DaemonSet, as the controller keeps it."""
        owner = self.objects["DaemonSet"][daemon_set]
        value = f"hash-{number}"
        self.add(
            {
                "kind": "ControllerRevision",
                "metadata": {
                    "name": f"{daemon_set}-{value}",
                    "namespace": owner["metadata"]["namespace"],
                    "labels": {"controller-revision-hash": value},
                    "ownerReferences": [{"uid": owner["metadata"]["uid"]}],
                },
                "revision": number,
            }
        )
        return value

    def pod(self, daemon_set: str, node: str, *, ready: bool, revision: str = "hash-1") -> Document:
        """The DaemonSet's pod on a node, which from now on it wants there."""
        owner = self.objects["DaemonSet"][daemon_set]
        wanted = {pod["spec"]["nodeName"] for pod in pods_of(owner, self.snapshot())} | {node}
        status = owner.setdefault("status", {})
        status["desiredNumberScheduled"] = max(status.get("desiredNumberScheduled", 0), len(wanted))
        labels = {**owner["spec"]["template"]["metadata"]["labels"], "controller-revision-hash": revision}
        return self.add(
            {
                "kind": "Pod",
                "metadata": {
                    "name": f"{daemon_set}-{node}",
                    "namespace": owner["metadata"]["namespace"],
                    "labels": labels,
                    "ownerReferences": [{"kind": "DaemonSet", "uid": owner["metadata"]["uid"]}],
                },
                "spec": {"nodeName": node},
                "status": {"containerStatuses": [{"ready": ready}]},
            }
        )

    def workload(self, name: str, node: str, *, controlled: bool = True, **spec: Any) -> Document:
        """A tenant's running pod on a node."""
        owners = [{"kind": "Job", "uid": f"job-of-{name}", "controller": True}] if controlled else []
        metadata = {"name": name, "namespace": "work", "labels": {"app": name}, "ownerReferences": owners}
        container = {"name": "main", **spec.pop("container", {})}
        return self.add(
            {
                "kind": "Pod",
                "metadata": metadata,
                "spec": {"nodeName": node, "containers": [container], **spec},
                "status": {"phase": "Running"},
            }
        )


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def settle() -> Callable[[Cluster, Callable[..., Plan]], Plan]:
    """Reconcile until nothing is left to do; the last plan."""

    def until_quiet(cluster: Cluster, reconcile: Callable[..., Plan]) -> Plan:
        for _ in range(10):
            plan = reconcile(cluster.snapshot(), now="2026-01-01T01:00:00Z")
            if plan == Plan():
                return plan
            cluster.obey(plan)
        raise AssertionError(f"the operator does not come to rest; it still wants {plan}")

    return until_quiet


@pytest.fixture
def running(cluster: Cluster) -> Cluster:
    """A cluster with the Network Operator, two nodes with HCAs and one without any."""
    cluster.operator("network-operator", network.OPERATOR_LABELS)
    cluster.node("ib-0")
    cluster.node("ib-1")
    cluster.node("system-0", nic=False)
    return cluster


@pytest.fixture
def with_gpus(cluster: Cluster) -> Cluster:
    """A cluster with the GPU Operator, a node with GPUs and one without any."""
    cluster.operator("gpu-operator", gpu.OPERATOR_LABELS)
    cluster.node("gpu-0", gpu=True)
    cluster.node("system-0", nic=False)
    return cluster
