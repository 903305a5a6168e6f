"""`aks-infiniband evidence` reads a simulated machine, and its DCGM."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.dcgm.opinion import findings
from aks_infiniband_cli.bad_machines.evidence.reading_job import ask
from lightkube.resources.batch_v1 import Job

from rehearsal.faults import machine_faults
from rehearsal.machines.pods.status import is_ready
from tests.unit.command_line.validations import validation

from .conftest import ON_AKS, Rehearsed
from .jobs import NODE, python

DCGM = "nvcr.io/nvidia/cloud-native/dcgm:4.5.2-1-ubuntu22.04"


def test_a_machine_tells_its_host_its_id_and_its_adapters(cluster: Rehearsed) -> None:
    found = ask(cluster.client, NODE, replace(validation(), namespace=cluster.namespace))
    assert found["physical_host_name"].startswith("GGBB")
    assert found["metadata"]["vmSize"] == "Standard_ND96isr_H100_v5"
    assert found["metadata"]["vmId"]
    assert len(found["hcas"]) == 8
    assert {hca["state"] for hca in found["hcas"]} == {"4: ACTIVE"}
    assert all(hca["firmware"] for hca in found["hcas"])
    cluster.eventually(lambda: not list(cluster.client.list(Job, namespace=cluster.namespace)))


@pytest.fixture
def host_engine(cluster: Rehearsed, machine_of_aks: str) -> Iterator[str]:
    """A machine with DCGM's host engine."""
    awaits = {"initContainers": [{"name": "toolkit-validation", "image": "x"}]}
    cluster.daemon_set("plugin", {"app": "nvidia-device-plugin-daemonset"}, **awaits, **ON_AKS)
    containers = [{"name": "nvidia-dcgm-ctr", "image": DCGM}]
    cluster.daemon_set("nvidia-dcgm", {"app": "nvidia-dcgm"}, containers=containers, **awaits, **ON_AKS)
    cluster.eventually(lambda: cluster.allocatable(machine_of_aks, "nvidia.com/gpu") == "8")
    cluster.eventually(lambda: all(map(is_ready, cluster.pods(app="nvidia-dcgm"))))
    yield machine_of_aks
    machine_faults.write(cluster.run.root, [])


def second_opinion(cluster: Rehearsed, node: str, pods: list[dict[str, Any]] | None = None) -> Mapping[str, Any]:
    deployed = replace(validation(), namespace=cluster.namespace)
    found = diagnosed(cluster.client, cluster.node(node), pods or cluster.pods(), deployed, {cluster.namespace})
    assert found is not None
    return found


def test_dcgm_finds_what_its_level_2_looks_at_and_no_more(cluster: Rehearsed, host_engine: str) -> None:
    faults = [
        {"fault": "gpu-memory", "gpu": 3},
        {"fault": "half-lanes", "gpu": 5},
        {"fault": "throttled-gpu", "gpu": 6, "factor": 0.6},
    ]
    machine_faults.write(cluster.run.root, [{**fault, "node": host_engine} for fault in faults])
    found = second_opinion(cluster, host_engine)
    assert "results" in found, found
    assert [line.split(": ")[1] for line in findings(found)] == [
        *("Pass on 7 GPUs", "Fail, GPU 3"),
        *("Pass on 7 GPUs", "Skip, GPU 3"),
        *("Pass on 6 GPUs", "Skip, GPU 3", "Fail, GPU 5"),
    ]
    cluster.eventually(lambda: not list(cluster.client.list(Job, namespace=cluster.namespace)))


def test_dcgm_is_not_asked_under_a_job_however_late_it_came(cluster: Rehearsed, host_engine: str) -> None:
    before = cluster.pods()
    limits = {"limits": {"nvidia.com/gpu": "1"}}
    cluster.job("train", python("import time; time.sleep(600)", resources=limits), nodeName=host_engine)
    training: dict[str, str] = {"batch.kubernetes.io/job-name": "train"}
    cluster.eventually(lambda: [pod for pod in cluster.pods(**training) if pod["status"]["phase"] == "Running"])
    assert "has nvidia.com/gpu" in second_opinion(cluster, host_engine)["not_asked"]
    refused = second_opinion(cluster, host_engine, before)["failed"]
    assert "nvidia.com/gpu" in refused, refused
