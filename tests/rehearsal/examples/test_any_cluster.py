"""The example of components on a cluster that others made. The tests follow one another.

Its GPU driver has NVIDIA's closed kernel modules: HCAs reach GPUs by nvidia-peermem, which is the default with OFED.
"""

from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.core_v1 import ConfigMap, Namespace, Pod

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.rehearsal.stacks.conftest import AKSS_NAMES, Stack
from tests.rehearsal.waiting import eventually

from .conftest import destroy_and_keep_machines

EXAMPLE, STACK = "any-cluster", "lab"


def offered(node: dict[str, Any], resource: str) -> str:
    return str(node["status"]["allocatable"].get(resource, "0"))


@pytest.fixture(scope="module")
def brought_up(example: Stack) -> Outcome:
    example.fault("closed-kernel-modules")
    outcome = example.up()
    assert outcome.succeeded, outcome.said
    return outcome


def test_the_clusters_own_machines_offer_gpus_and_rdma_and_pass_validation(example: Stack, brought_up: Outcome) -> None:
    offered = [node["status"]["allocatable"] for node in example.nodes(machines="h100")]
    assert [(node["rdma/shared_ib"], node["nvidia.com/gpu"]) for node in offered] == [("63", "8")] * 2
    assert example.outputs()["validation-h100"] == "pass"
    assert example.rdma_devices() == AKSS_NAMES


@pytest.mark.field_report("B3")
def test_nvidia_peermem_is_loaded_with_the_gpu_driver_and_nccls_log_proves_it(
    example: Stack, brought_up: Outcome
) -> None:
    drivers = example.cluster().list(Pod, namespace="gpu-operator", labels={"app": "nvidia-driver-daemonset"})
    names = [[container["name"] for container in pod.to_dict()["spec"]["containers"]] for pod in drivers]
    assert names == [["nvidia-driver-ctr", "nvidia-peermem-ctr"]] * 2
    (transport,) = [check for check in example.report("h100")["checks"] if check["check"] == "collective-transport"]
    assert (transport["verdict"], transport["measured"]) == ("pass", "InfiniBand with GPUDirect RDMA (nvidia-peermem)")


def test_no_resource_is_azures(example: Stack, brought_up: Outcome) -> None:
    assert [step.type for step in brought_up.steps if "azure-native" in step.type] == []


def test_a_transform_reaches_every_object_that_the_components_make(example: Stack, brought_up: Outcome) -> None:
    cluster = example.cluster()
    namespaces = {
        namespace.metadata.name: namespace.metadata.labels or {}
        for namespace in cluster.list(Namespace)
        if namespace.metadata
    }
    assert {namespaces[name].get("team") for name in ("network-operator", "gpu-operator", "aks-infiniband")} == {"lab"}
    for name in ("workload-h100", "workload-h100-topology", "validation"):
        place = "aks-infiniband-system" if name == "validation" else "aks-infiniband"
        metadata = cluster.get(ConfigMap, name, namespace=place).metadata
        assert metadata is not None
        assert (metadata.labels or {})["team"] == "lab", name


def test_a_second_up_changes_nothing(example: Stack, brought_up: Outcome) -> None:
    again = example.up()
    assert again.succeeded, again.said
    assert again.changed == {}


def test_the_sample_job_is_applied_as_it_is_and_completes_on_every_machine(
    example: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    sample = completed_sample(example.rehearsal, "h100", output="sampleJob-h100", folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("4: ACTIVE, 400 Gb/sec (4X NDR)") == 2 * 8
    assert sample.shown.count("/nccl-topology.xml\n") == 2, "and each pod has the file"


def test_in_mode_driver_only_no_plugin_hands_out_devices_and_pods_have_them_all_the_same(
    example: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    example.settings(networkOperator={"mode": "driver-only", "valuesFile": None})
    changed = example.up()
    assert changed.succeeded, changed.said
    # A kubelet still names a resource whose plugin has left it, with none to give.
    eventually(lambda: {offered(node, "rdma/shared_ib") for node in example.nodes(machines="h100")} == {"0"})
    sample = completed_sample(example.rehearsal, "h100", output="sampleJob-h100", folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("4: ACTIVE, 400 Gb/sec (4X NDR)") == 2 * 8


def test_destroy_takes_what_the_program_made_and_leaves_the_cluster(example: Stack, brought_up: Outcome) -> None:
    destroy_and_keep_machines(example)
