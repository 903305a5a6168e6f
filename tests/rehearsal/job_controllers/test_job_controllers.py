"""Every example of a job, made into pods by the real controller of its kind, and run on simulated machines.

The controllers, their definitions and their webhooks are the real ones. The real scheduler finds machines for the pods,
and a real shell runs the check before the program on the machine's files. The programs themselves are in no simulated
image, and taken to succeed.
"""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from aks_infiniband import nccl_environment

from .jobs import NAMESPACE, POOL, Jobs
from .table import OF_JOBS

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]  # the first run builds the controllers

RUNNING = OF_JOBS
ACTIVE = "InfiniBand: 8 links are ACTIVE, and nothing makes NCCL or UCX use sockets.\n"
FAULT = "The InfiniBand link of mlx5_3 is 1: DOWN, not ACTIVE. Cordon this node, and ask aks-infiniband doctor."


@pytest.fixture
def broken(jobs: Jobs) -> Iterator[None]:
    """A link of one machine is down."""
    with jobs.stack.broken("link-down", node="*vmss000001", device="mlx5_3"):
        yield


def environment(pod: dict[str, Any], container: str) -> dict[str, str]:
    """The variables that a container's spec gives by value."""
    (found,) = [each for each in pod["spec"]["containers"] if each["name"] == container]
    return {each["name"]: each["value"] for each in found.get("env", []) if "value" in each}


def on_two_machines(pods: dict[str, Any], *names: str) -> bool:
    """True if pods are scheduled, each on a different machine of the pool."""
    nodes = {pods[name]["spec"].get("nodeName", "") for name in names}
    return len(nodes) == len(names) and all(node.startswith(f"aks-{POOL}-") for node in nodes)


def named(pods: dict[str, Any], *beginnings: str) -> list[str]:
    """The one pod for each beginning of a name."""
    found = [[name for name in pods if name.startswith(beginning)] for beginning in beginnings]
    assert [len(names) for names in found] == [1] * len(beginnings), sorted(pods)
    return [name for (name,) in found]


def test_an_indexed_job_runs_on_both_machines_to_its_end(jobs: Jobs) -> None:
    jobs.run("indexed-job")
    jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    pods = jobs.pods()
    names = named(pods, "train-0-", "train-1-")
    assert on_two_machines(pods, *names)
    assert [jobs.log(name, "require-infiniband") for name in names] == [ACTIVE, ACTIVE]
    assert [pods[name]["spec"]["hostname"] for name in names] == ["train-0", "train-1"]


def test_a_job_sets_pods_have_its_names_and_its_service(jobs: Jobs) -> None:
    jobs.run("job-set")
    jobs.eventually(lambda: jobs.has("jobset", "train", "Completed"))
    pods = jobs.pods()
    names = named(pods, "train-workers-0-0-", "train-workers-0-1-")
    assert on_two_machines(pods, *names)
    assert [jobs.log(name, "require-infiniband") for name in names] == [ACTIVE, ACTIVE]
    assert {pods[name]["spec"]["subdomain"] for name in names} == {"train"}
    assert [pods[name]["spec"]["hostname"] for name in names] == ["train-workers-0-0", "train-workers-0-1"]
    assert jobs.get("service", "train")["spec"]["clusterIP"] == "None"
    command = pods[names[0]]["spec"]["containers"][0]["command"]
    assert "--master-addr=train-workers-0-0.train" in command


def test_a_train_jobs_ranks_are_those_that_trainer_gives(jobs: Jobs) -> None:
    jobs.run("train-job")
    jobs.eventually(lambda: jobs.has("trainjob", "train", "Complete"))
    pods = jobs.pods()
    names = named(pods, "train-node-0-0-", "train-node-0-1-")
    assert on_two_machines(pods, *names)
    assert [jobs.log(name, "require-infiniband") for name in names] == [ACTIVE, ACTIVE]
    for rank, name in enumerate(names):
        given = jobs.log(name, "node").split()
        wanted = {
            "PET_NNODES": 2,
            "PET_NPROC_PER_NODE": 8,
            "PET_NODE_RANK": rank,
            "PET_MASTER_ADDR": "train-node-0-0.train",
        }
        assert {f"{key}={value}" for key, value in wanted.items()} <= set(given)
        assert "NCCL_NET=IB" in given


def test_a_pytorch_jobs_worker_waits_for_its_masters_name(jobs: Jobs) -> None:
    jobs.run("pytorch-job")
    jobs.eventually(lambda: "PET_NODE_RANK=1" in jobs.log_of_running("train-worker-0", "pytorch"))
    pods = jobs.pods()
    assert on_two_machines(pods, "train-master-0", "train-worker-0")
    assert jobs.log("train-worker-0", "require-infiniband") == ACTIVE
    assert "Name:      train-master-0" in jobs.log("train-worker-0", "init-pytorch")
    given = jobs.log("train-worker-0", "pytorch").split()
    assert {"PET_NNODES=2", "PET_NPROC_PER_NODE=8", "PET_MASTER_ADDR=train-master-0", "NCCL_NET=IB"} <= set(given)
    jobs.eventually(lambda: jobs.has("pytorchjob", "train", "Succeeded"))


def test_an_mpi_jobs_launcher_comes_when_its_workers_run_and_reaches_them_by_their_names(jobs: Jobs) -> None:
    jobs.run("mpi-job")
    jobs.eventually(lambda: jobs.has("mpijob", "all-reduce", "Succeeded"))
    pods = jobs.pods()
    (launcher,) = named(pods, "all-reduce-launcher-")
    assert "All hosts let mpirun in." in jobs.log(launcher, "launcher")
    hosts = jobs.get("configmap", "all-reduce-config")["data"]["hostfile"].split("\n")
    assert hosts[:2] == [f"all-reduce-worker-{rank}.all-reduce.{NAMESPACE}.svc slots=8" for rank in range(2)]
    command = pods[launcher]["spec"]["containers"][0]["command"]
    assert all(f"{name}={value}" in command for name, value in nccl_environment().items())


def test_a_server_is_a_group_whose_worker_knows_its_leader(jobs: Jobs) -> None:
    jobs.run("vllm")
    (server,) = [each["metadata"]["name"] for each in jobs.get("leaderworkerset")["items"]]
    jobs.eventually(lambda: jobs.has("leaderworkerset", server, "Available"))
    pods = jobs.pods()
    assert on_two_machines(pods, f"{server}-0", f"{server}-0-1")
    assert jobs.log(f"{server}-0-1", "require-infiniband") == ACTIVE
    given = environment(pods[f"{server}-0-1"], "vllm")
    assert given["LWS_LEADER_ADDRESS"] == f"{server}-0.{server}.{NAMESPACE}"
    assert given["LWS_GROUP_SIZE"] == "2"


FAILED = {
    "indexed-job": ("job", "train"),
    "job-set": ("jobset", "train"),
    "train-job": ("trainjob", "train"),
    "pytorch-job": ("pytorchjob", "train"),
    "mpi-job": ("mpijob", "all-reduce"),
}


@pytest.mark.parametrize("example", list(FAILED))
def test_a_link_that_is_down_fails_the_job_within_a_minute_in_words(jobs: Jobs, broken: None, example: str) -> None:
    kind, name = FAILED[example]
    begun = time.monotonic()
    jobs.run(example)
    jobs.eventually(lambda: jobs.has(kind, name, "Failed"))
    took = time.monotonic() - begun
    assert took < 60, took
    said = [jobs.log_of_running(name, box) for name, pod in jobs.pods().items() for box in checks(pod)]
    said += [str(pod["status"]) for pod in jobs.pods().values()]
    assert any(FAULT in text for text in said), said


def checks(pod: dict[str, Any]) -> list[str]:
    """The containers that say what a check found."""
    init = [box["name"] for box in pod["spec"].get("initContainers", []) if box["name"].startswith("require-")]
    return init or [pod["spec"]["containers"][0]["name"]]


def test_a_server_whose_machine_has_a_link_down_never_serves(jobs: Jobs, broken: None) -> None:
    jobs.run("vllm")
    (server,) = [each["metadata"]["name"] for each in jobs.get("leaderworkerset")["items"]]
    jobs.eventually(lambda: any(FAULT in str(pod["status"]) for pod in jobs.pods().values()), seconds=60)
    assert not jobs.has("leaderworkerset", server, "Available")
