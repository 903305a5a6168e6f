"""A cluster of documents: what the API server would show an operator."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from rehearsal.operators.plan import Plan, Snapshot
from rehearsal.operators.workloads import pods_of

Document = dict[str, Any]
KERNEL: Final = "6.8.0-1025-azure"
NOW: Final = "2026-01-01T01:00:00Z"
POLICIES: Final[dict[str, Document]] = yaml.safe_load(Path(__file__).with_name("policies.yaml").read_text("utf-8"))
"""By kind, the usual policy of an operator."""


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

    def operator(self, name: str, labels: dict[str, str], selector: dict[str, str] | None = None) -> Document:
        env = [{"name": "OFED_INIT_CONTAINER_IMAGE", "value": "registry/init:v1"}]
        container = {"name": name, "image": f"registry/{name}:v9", "env": env}
        return self.add(
            {
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": name, "labels": labels, "generation": 1},
                "spec": {"selector": {"matchLabels": selector}, "template": {"spec": {"containers": [container]}}},
                "status": {"observedGeneration": 1, "conditions": [{"type": "Available", "status": "True"}]},
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

    def snapshot(self) -> Snapshot:
        return Snapshot({kind: list(objects.values()) for kind, objects in self.objects.items()})

    def obey(self, plan: Plan, *, replacing: bool = False) -> None:
        """Carry out a plan. replacing: the DaemonSet controller replaces its pods that the plan deletes."""
        for document in plan.objects:
            self._apply(document)
        for document in [*plan.deletions, *plan.evictions]:
            self._remove(document)
        for node, annotations in plan.node_annotations.items():
            _merge(self.objects["Node"][node]["metadata"].setdefault("annotations", {}), annotations)
        for node, labels in plan.node_labels.items():
            _merge(self.objects["Node"][node]["metadata"]["labels"], labels)
        for node, unschedulable in plan.cordons.items():
            self.objects["Node"][node]["spec"]["unschedulable"] = unschedulable
        for document, annotations_left in plan.annotations:
            document["metadata"]["annotations"] = annotations_left
        for document, finalizers in plan.finalizers:
            self._finalize(document, finalizers)
        for document, status in plan.statuses:
            document["status"] = status
        self._replace(plan.deletions if replacing else [])

    def _apply(self, document: Document) -> None:
        old = self.objects.get(document["kind"], {}).get(document["metadata"]["name"], {"metadata": {}})
        kept = {"status": old["status"]} if "status" in old else {}
        uid = {key: value for key, value in old["metadata"].items() if key == "uid"}
        generation = {"generation": old["metadata"].get("generation", 0) + 1}
        self.add({**document, **kept, "metadata": {**document["metadata"], **uid, **generation}})

    def _finalize(self, document: Document, finalizers: list[str]) -> None:
        document["metadata"]["finalizers"] = finalizers
        if not finalizers and "deletionTimestamp" in document["metadata"]:
            self._remove(document)

    def _replace(self, deleted: Iterable[Document]) -> None:
        for pod in deleted:
            daemon_set = pod["metadata"]["name"].removesuffix(f"-{pod.get('spec', {}).get('nodeName')}")
            if pod["kind"] == "Pod" and daemon_set in self.objects.get("DaemonSet", {}):
                self.pod(daemon_set, pod["spec"]["nodeName"], ready=False)

    def _remove(self, document: Document) -> None:
        del self.objects[document["kind"]][document["metadata"]["name"]]

    def scheduled(self, daemon_set: str, desired: int, ready: int | None = None, updated: int | None = None) -> None:
        """The DaemonSet controller's words on a DaemonSet now."""
        document = self.objects["DaemonSet"][daemon_set]
        document["status"] = {
            "observedGeneration": document["metadata"]["generation"],
            "desiredNumberScheduled": desired,
            "numberAvailable": desired if ready is None else ready,
            "updatedNumberScheduled": desired if updated is None else updated,
        }

    def revision(self, daemon_set: str, number: int) -> None:
        """A new template of a DaemonSet, as the controller keeps it."""
        owner = self.objects["DaemonSet"][daemon_set]["metadata"]
        metadata = {
            "name": f"{daemon_set}-hash-{number}",
            "namespace": owner["namespace"],
            "labels": {"controller-revision-hash": f"hash-{number}"},
            "ownerReferences": [{"uid": owner["uid"]}],
        }
        self.add({"kind": "ControllerRevision", "metadata": metadata, "revision": number})

    def pod(self, daemon_set: str, node: str, *, ready: bool) -> Document:
        """The DaemonSet's pod on a node, with its newest template, which from now on it wants there."""
        owner = self.objects["DaemonSet"][daemon_set]
        wanted = {pod["spec"].get("nodeName", node) for pod in pods_of(owner, self.snapshot())} | {node}
        status = owner.setdefault("status", {})
        status["desiredNumberScheduled"] = max(status.get("desiredNumberScheduled", 0), len(wanted))
        revisions = self.objects.get("ControllerRevision", {}).values()
        numbers = [each["revision"] for each in revisions if each["metadata"]["name"].startswith(f"{daemon_set}-hash-")]
        metadata = {
            "name": f"{daemon_set}-{node}",
            "namespace": owner["metadata"]["namespace"],
            "labels": {
                **owner["spec"]["template"]["metadata"]["labels"],
                "controller-revision-hash": f"hash-{max(numbers, default=1)}",
            },
            "ownerReferences": [{"kind": "DaemonSet", "uid": owner["metadata"]["uid"]}],
        }
        status = {"containerStatuses": [{"ready": ready}]}
        return self.add({"kind": "Pod", "metadata": metadata, "spec": {"nodeName": node}, "status": status})

    def workload(self, name: str, node: str) -> Document:
        """A tenant's running pod on a node."""
        owners = [{"kind": "Job", "uid": f"job-of-{name}", "controller": True}]
        metadata = {"name": name, "namespace": "work", "labels": {"app": name}, "ownerReferences": owners}
        spec = {"nodeName": node, "containers": [{"name": "main"}]}
        return self.add({"kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": "Running"}})


def _merge(values: Document, news: Mapping[str, str | None]) -> None:
    values.update(news)
    for key in [key for key, value in news.items() if value is None]:
        del values[key]
