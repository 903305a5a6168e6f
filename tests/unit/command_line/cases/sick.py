"""Recorded clusters with faults, and what the doctor says of them."""

from collections.abc import Iterator, Mapping
from typing import Any

from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.rendering import answer
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.cases import Case
from tests.unit.command_line.doctor.sick_clusters import sick


def outcome_of_cluster(case: Case) -> str:
    """The doctor's text on a recorded cluster that `shows` symptoms and was changed by `steps`, which have the form of
    those of the symptoms; `base` is the recorded stack. `job` has the pods of a Job on each machine with GPUs: requests
    in addition to the GPUs, the pods' spec, and the container's security context.
    """
    cluster = sick(*case.get("shows", ()), steps=case.get("steps", ()), base=case.get("base"))
    cluster.view.unread.extend(case.get("unread", ()))
    if "job" in case:
        add_pods(cluster, template_of(case["job"]), unplaced=case["job"].get("unplaced"))
    return answer(examine(cluster), cluster.view.unread).text


def template_of(job: Case) -> dict[str, Any]:
    """A pod that uses all GPUs of its machine."""
    asked = {"nvidia.com/gpu": "8", **job.get("requests", {})}
    context = {"capabilities": {"add": ["IPC_LOCK"]}, **job.get("securityContext", {})}
    main = {"name": "main", "resources": {"requests": asked, "limits": asked}, "securityContext": context}
    return {"spec": {"containers": [main], **job.get("spec", {})}}


def add_pods(cluster: Snapshot, template: Mapping[str, Any], *, unplaced: str | None = None) -> None:
    """A template's pods on each machine with GPUs, as one Job. unplaced: why the scheduler has not placed them."""
    for number, node in enumerate(_with_gpus(cluster)):
        owner = {"kind": "Job", "name": "train", "uid": "job-1"}
        metadata = dict(template.get("metadata") or {}) | {
            "name": f"train-{number}", "namespace": "apps", "uid": f"train-{number}", "ownerReferences": [owner],
        }  # fmt: skip
        metadata["annotations"] = {**metadata.get("annotations", {}), "k8s.v1.cni.cncf.io/network-status": "[]"}
        placed = {"nodeName": node["metadata"]["name"]} if unplaced is None else {}
        conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
        if unplaced is not None:
            conditions = [{"type": "PodScheduled", "status": "False", "message": unplaced}]
        status = {"phase": "Running" if unplaced is None else "Pending", "conditions": conditions}
        pod = {"kind": "Pod", "metadata": metadata, "spec": {**template["spec"], **placed}, "status": status}
        cluster.view.pods.append(pod)


def _with_gpus(cluster: Snapshot) -> Iterator[Mapping[str, Any]]:
    return (node for node in cluster.view.nodes if "nvidia.com/gpu" in (node["status"].get("allocatable") or {}))
