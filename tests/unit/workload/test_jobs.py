"""Templates of jobs: each has the pool's fabric, a check before the program, and one attempt."""

from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from aks_infiniband import SIZES, Pool, pod_template_fragment
from aks_infiniband.workload import jobs
from aks_infiniband.workload.checked import Workload

SIZE = SIZES["Standard_ND96isr_H100_v5"]
CHECK = (resources.files("aks_infiniband.workload") / "require_infiniband.sh").read_text()


def workload(**changes: Any) -> Workload:
    pool = Pool(name="h100", size=SIZE, node_count=2, gpu_driver="operator", mode=changes.pop("mode", "rdma-shared"))
    about = {"name": "train", "namespace": "training", "machines": 2, "image": "ours", "requests": {"cpu": "80"}}
    return Workload(**{**about, "template": pod_template_fragment(pool), **changes})


def every(asked: Workload) -> dict[str, jobs.Documents]:
    return {
        "indexed_job": jobs.indexed_job(asked, ["train"]),
        "job_set": jobs.job_set(asked, ["train"]),
        "train_job": jobs.train_job(asked, ["train"]),
        "pytorch_job": jobs.pytorch_job(asked, ["train"]),
        "mpi_job": jobs.mpi_job(asked, ["mpirun", "train"]),
        "vllm_server": jobs.vllm_server(asked, model="a/model"),
    }


def pods(document: Any) -> Iterator[dict[str, Any]]:
    """The specs of all pods that request devices, however deep they lie."""
    if isinstance(document, dict):
        if "containers" in document and any("resources" in one for one in document["containers"]):
            yield document
        for item in document.values():
            yield from pods(item)
    elif isinstance(document, list):
        for item in document:
            yield from pods(item)


@pytest.mark.parametrize("way", list(every(workload())))
def test_a_pod_takes_a_whole_machine_and_is_checked_first(way: str) -> None:
    found = list(pods(every(workload())[way]))
    assert found
    for pod in found:
        (main,) = pod["containers"]
        assert main["resources"]["limits"] == {"nvidia.com/gpu": "8", "rdma/shared_ib": "1"}
        assert main["resources"]["requests"]["cpu"] == "80"
        if way == "mpi_job":
            assert main["command"][3:] == ["sh", CHECK], "it is made before sshd, which tells mpirun"
        else:
            (check,) = pod["initContainers"]
            assert (check["name"], check["image"], check["envFrom"]) == ("require-infiniband", "ours", main["envFrom"])
            assert check["resources"]["limits"] == {"rdma/shared_ib": "1"}, "the check holds devices, and no GPU"
            assert check["command"][2] == CHECK
        assert pod["nodeSelector"] == {"kubernetes.azure.com/agentpool": "h100"}


@pytest.mark.parametrize(("queue", "tolerated"), [("research", True), (None, False)])
def test_a_launcher_in_a_queue_may_be_given_the_pool_whose_taints_it_would_not_tolerate(
    queue: str | None, tolerated: bool
) -> None:
    pool = Pool(name="h100", size=SIZE, node_count=2, gpu_driver="operator", taints=("sku=gpu:NoSchedule",))
    template = pod_template_fragment(pool)
    (job,) = jobs.mpi_job(workload(template=template, queue=queue), ["mpirun", "train"])
    launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"]["template"]["spec"]
    assert launcher.get("tolerations") == (template["spec"]["tolerations"] if tolerated else None)


def test_a_queued_launcher_tries_again_because_it_comes_with_its_workers() -> None:
    """Without a queue it comes once they run."""
    limits = [
        jobs.mpi_job(workload(queue=queue), ["mpirun"])[0]["spec"]["runPolicy"]["backoffLimit"]
        for queue in (None, "research")
    ]
    assert limits == [0, 6]


@pytest.mark.parametrize("way", list(every(workload())))
def test_kueue_knows_the_job_by_its_queue(way: str) -> None:
    queued = {"kueue.x-k8s.io/queue-name": "research"}
    *_, job = every(workload(queue="research"))[way]
    assert job["metadata"]["labels"] == queued
    *_, job = every(workload())[way]
    assert "labels" not in job["metadata"]


def test_the_pools_template_is_left_as_it_was() -> None:
    asked = workload()
    before = str(asked.template)
    every(asked)
    assert str(asked.template) == before


def test_one_machine_needs_no_worker_beside_the_master() -> None:
    (job,) = jobs.pytorch_job(workload(machines=1), ["train"])
    assert list(job["spec"]["pytorchReplicaSpecs"]) == ["Master"]


def test_a_program_over_tcp_is_checked_for_its_interfaces() -> None:
    pool = Pool(name="hb", size=SIZES["Standard_HB176rs_v4"], node_count=2, gpu_driver="none", mode="ipoib")
    _, job = jobs.tcp_job(workload(template=pod_template_fragment(pool)), ["serve"])
    (check,) = job["spec"]["template"]["spec"]["initContainers"]
    assert (check["name"], check["command"][-1]) == ("require-ipoib", "net1")


def test_a_program_over_tcp_needs_a_pool_in_mode_ipoib() -> None:
    with pytest.raises(ValueError, match="pool in mode ipoib"):
        jobs.tcp_job(workload(), ["serve"])


@pytest.mark.parametrize("changes", [{"machines": 0}, {"template": {"spec": {"containers": []}}}])
def test_a_workload_that_cannot_be_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        workload(**changes)
