"""The sample Job on every size, as kubectl takes it; what differs between pools is in cases/sample.yaml."""

import json

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.workload.sample_job import sample_job

from tests.some_pools import pool


def test_it_is_one_document_that_kubectl_applies() -> None:
    sample = sample_job(pool())
    assert json.loads(json.dumps(sample)) == sample
    assert (sample["apiVersion"], sample["kind"]) == ("v1", "List")


@pytest.mark.field_report("A2c")
def test_on_every_size_one_pod_runs_on_each_machine_with_pinned_images_for_its_gpus() -> None:
    for size in SIZES:
        *_, job = sample_job(pool(size, node_count=3))["items"]
        pod = job["spec"]["template"]["spec"]
        assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (3, 3)
        (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        assert apart["topologyKey"] == "kubernetes.io/hostname"
        images = [container["image"] for container in (*pod.get("initContainers", []), *pod["containers"])]
        assert all(image.rpartition(":")[2][0].isdigit() for image in images)
        assert ("24.10" in images[-1]) is (size == "Standard_ND40rs_v2"), "CUDA 13 has no code for V100"
