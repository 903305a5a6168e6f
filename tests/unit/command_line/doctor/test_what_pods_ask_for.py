"""A pod that may have InfiniBand is never said to lack it, whatever its device plugin or claim is called."""

import json
import runpy
import sys
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband import pod_template_fragment
from aks_infiniband.facts.catalog.machine import Mode
from aks_infiniband.workload import jobs
from aks_infiniband.workload.checked import Workload
from aks_infiniband_cli.doctor.examine import examine
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.some_pools import GB300, H100, pool
from tests.unit.command_line.doctor.sick_clusters import healthy

CLUSTER_OF: Mapping[Mode, str] = {
    "rdma-shared": "dev", "sriov": "mixed", "ipoib": "dev", "dra": "dev", "driver-only": "dev",
}  # fmt: skip
"""A recorded cluster whose device plugins offer what the mode's pods request."""
JOBS = {
    "indexed_job": lambda asked: jobs.indexed_job(asked, ["train"]),
    "tcp_job": lambda asked: jobs.tcp_job(asked, ["train"]),
    "job_set": lambda asked: jobs.job_set(asked, ["train"]),
    "train_job": lambda asked: jobs.train_job(asked, ["train"]),
    "pytorch_job": lambda asked: jobs.pytorch_job(asked, ["train"]),
    "mpi_job": lambda asked: jobs.mpi_job(asked, ["mpirun", "train"]),
    "vllm_server": lambda asked: jobs.vllm_server(asked, model="a/model"),
}


def templates(document: Any) -> Iterator[dict[str, Any]]:
    """The pod templates in a document that request devices."""
    if isinstance(document, dict):
        spec = document.get("spec")
        if isinstance(spec, dict) and any("resources" in each for each in spec.get("containers") or []):
            yield document
        for item in document.values():
            yield from templates(item)
    elif isinstance(document, list):
        for item in document:
            yield from templates(item)


def running(cluster: Snapshot, template: Mapping[str, Any], *, phase: str = "Running") -> Snapshot:
    """A template's pods on each machine with GPUs, as one job."""
    gpus = [node for node in cluster.view.nodes if "nvidia.com/gpu" in (node["status"].get("allocatable") or {})]
    for number, node in enumerate(gpus):
        owner = {"kind": "Job", "name": "train", "uid": "job-1"}
        metadata = dict(template.get("metadata") or {}) | {
            "name": f"train-{number}", "namespace": "apps", "uid": f"train-{number}", "ownerReferences": [owner],
        }  # fmt: skip
        metadata["annotations"] = {**metadata.get("annotations", {}), "k8s.v1.cni.cncf.io/network-status": "[]"}
        conditions = [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]
        spec = {**template["spec"], "nodeName": node["metadata"]["name"]}
        status = {"phase": phase, "conditions": conditions}
        cluster.view.pods.append({"kind": "Pod", "metadata": metadata, "spec": spec, "status": status})
    return cluster


PAIRS = [(kind, mode) for kind in JOBS for mode in CLUSTER_OF if kind != "tcp_job" or mode == "ipoib"]
EXAMPLES = {path.parent.name: path for path in sorted((Path(__file__).parents[4] / "examples/jobs").glob("*/job.py"))}


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_job_of_the_examples_on_a_healthy_cluster_accuses_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mode: Mode = "ipoib" if name == "tcp-over-ipoib" else "rdma-shared"
    about = {"podTemplate": pod_template_fragment(pool(H100, mode=mode)), "nodeCount": 2}
    said = StringIO()
    monkeypatch.setattr(sys, "argv", ["job.py", "ndh100", "apps", "ours:1"])
    monkeypatch.setattr(sys, "stdin", StringIO(json.dumps({"ndh100": about})))
    monkeypatch.setattr(sys, "stdout", said)
    runpy.run_path(str(EXAMPLES[name]))
    monkeypatch.undo()
    found = list(templates(json.loads(said.getvalue())))
    assert found
    for template in found:
        told = examine(running(healthy(CLUSTER_OF[mode]), template))
        assert [(diagnosis.symptom.id, diagnosis.evidence) for diagnosis in told] == []


@pytest.mark.parametrize(("kind", "mode"), PAIRS)
def test_our_own_templates_on_a_healthy_cluster_accuse_nothing(kind: str, mode: Mode) -> None:
    fragment = pod_template_fragment(pool(H100, mode=mode))
    asked = Workload(name="train", namespace="apps", machines=2, image="ours", template=fragment)
    found = list(templates(JOBS[kind](asked)))
    assert found
    for template in found:
        told = examine(running(healthy(CLUSTER_OF[mode]), template))
        assert [(diagnosis.symptom.id, diagnosis.evidence) for diagnosis in told] == []


@pytest.mark.parametrize("size", [H100, GB300])
@pytest.mark.parametrize("mode", CLUSTER_OF)
def test_the_template_of_a_pool_accuses_nothing(mode: Mode, size: str) -> None:
    gpus = pool(size, mode=mode, ipoib_devices=("ibP1s1",))
    told = examine(running(healthy(CLUSTER_OF[mode]), pod_template_fragment(gpus)))
    assert [(diagnosis.symptom.id, diagnosis.evidence) for diagnosis in told] == []


WAYS: Mapping[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "another prefix": ({"nvidia.com/mlnxnics": "8"}, {}, {}),
    "a resource without a telling name": ({"example.com/fast": "1"}, {}, {}),
    "a claim without a telling name": ({}, {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "b"}]}, {}),
    "an extended resource that a DeviceClass backs": ({"deviceclass.resource.kubernetes.io/fabric": "8"}, {}, {}),
    "privileged in the host's network": ({}, {"hostNetwork": True}, {"privileged": True}),
    "the host's /dev": ({}, {"volumes": [{"name": "dev", "hostPath": {"path": "/dev/"}}]}, {}),
}
"""The ways to InfiniBand for pods elsewhere: resources, the pod's spec, the container's permissions."""


def _template(resources: dict[str, Any], spec: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
    asked = {"requests": {"nvidia.com/gpu": "8", **resources}, "limits": {"nvidia.com/gpu": "8", **resources}}
    lock = {"capabilities": {"add": ["IPC_LOCK"]}}
    main = {"name": "main", "resources": asked, "securityContext": lock | context}
    return {"spec": {"containers": [main], **spec}}


@pytest.mark.parametrize("way", WAYS)
def test_a_job_that_may_have_infiniband_is_not_said_to_lack_it(way: str) -> None:
    told = examine(running(healthy("dev"), _template(*WAYS[way])))
    assert "gpus-without-rdma" not in {diagnosis.symptom.id for diagnosis in told}


@pytest.mark.parametrize(
    "resources", [{}, {"kubernetes.io/batch-memory": "4Gi"}, {"sgx.intel.com/epc": "10Mi"}, {"cpu": "1500m"}]
)
def test_a_job_that_cannot_have_infiniband_is_named(resources: dict[str, str]) -> None:
    told = examine(running(healthy("dev"), _template(resources, {}, {})))
    assert {diagnosis.symptom.id for diagnosis in told} == {"gpus-without-rdma"}


@pytest.mark.parametrize("name", ["nvidia.com/mlnxnic", "rdma/hca", "mellanox.com/rdma_ib", "openshift.io/ib_nics"])
def test_a_mistyped_resource_of_any_prefix_is_named_beside_what_is_offered(name: str) -> None:
    cluster = running(healthy("dev"), _template({name: "1"}, {}, {}), phase="Pending")
    for pod in cluster.view.pods[-2:]:
        unplaced = {"type": "PodScheduled", "status": "False", "message": f"0/4 nodes: 4 Insufficient {name}."}
        pod["status"]["conditions"] = [unplaced]
        del pod["spec"]["nodeName"]
    told = examine(cluster)
    assert {diagnosis.symptom.id for diagnosis in told} == {"resource-name"}
    assert f"requests {name}; the nodes offer rdma/shared_ib" in told[0].evidence


@pytest.mark.parametrize("amount", ["4Gi", "10Mi", "1k", "0.5", "2e3", "100m", "1E", "not an amount"])
def test_a_pending_pod_with_any_quantity_is_diagnosed(amount: str) -> None:
    cluster = running(healthy("dev"), _template({"rdma/shared_ib": amount}, {}, {}), phase="Pending")
    for pod in cluster.view.pods[-2:]:
        unplaced = {"type": "PodScheduled", "status": "False", "message": "Insufficient nvidia.com/gpu"}
        pod["status"]["conditions"] = [unplaced]
    told = {diagnosis.symptom.id for diagnosis in examine(cluster)}
    assert told <= {"pending-resource-missing", "pending-resource-taken", "gpus-without-rdma"}
    assert told
