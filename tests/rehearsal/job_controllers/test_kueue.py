"""Jobs in a queue of the real Kueue, which knows the pool from the stack's objects, and runs on simulated machines.

The queue is the one of docs/scheduling.md.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from aks_infiniband_cli.machine_by_machine.replace.quarantine import quarantine, release
from lightkube.resources.core_v1 import Node

from tests.snippets import snippets

from .controllers import kubectl
from .jobs import POOL, Jobs
from .table import CONTROLLERS

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]  # the first run builds the controllers

RUNNING = tuple(CONTROLLERS)
QUEUE, RACK = "research", "example.com/rack"
(QUEUES,) = [text for text in snippets("scheduling.md", "yaml") if "kind: ClusterQueue" in text]
ENDS = {
    "job-set": ("jobset", "train", "Completed"),
    "train-job": ("trainjob", "train", "Complete"),
    "pytorch-job": ("pytorchjob", "train", "Succeeded"),
    "mpi-job": ("mpijob", "all-reduce", "Succeeded"),
}
"""By example, the kind and name of its job, and the condition of one that has ended well."""


@pytest.fixture(scope="module")
def cluster(cluster: Jobs) -> Jobs:
    """The cluster, once the stack has told Kueue of the pool, with the page's queue."""
    told = cluster.stack.change(schedulerTopology={"scheduler": "kueue"})
    assert {name.split()[0]: how for name, how in told.changed.items()} == dict.fromkeys(
        ("PoolTopology", "Topology", "ResourceFlavor"), "create"
    )
    kubectl(cluster.stack.kubeconfig(), "apply", "--filename", "-", given=QUEUES)
    return cluster


@pytest.fixture(autouse=True)
def _nothing_stays_queued(cluster: Jobs) -> Iterator[None]:
    yield
    cluster.eventually(lambda: not queued(cluster))


def queued(jobs: Jobs) -> list[dict[str, Any]]:
    """The jobs as Kueue has them."""
    found: list[dict[str, Any]] = jobs.get("workloads.kueue.x-k8s.io")["items"]
    return found


def workload(jobs: Jobs) -> dict[str, Any]:
    """The one job as Kueue has it; empty before it has."""
    found = queued(jobs)
    return found[0] if len(found) == 1 else {}


def condition(found: dict[str, Any], kind: str) -> dict[str, Any]:
    """A condition of a Workload; empty without one."""
    conditions = (found.get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind), {})


def machines(jobs: Jobs) -> list[str]:
    """The pool's nodes."""
    labels: Any = {"kubernetes.azure.com/agentpool": POOL}
    return sorted(str(node.to_dict()["metadata"]["name"]) for node in jobs.stack.cluster().list(Node, labels=labels))


def takes_a_machine(spec: dict[str, Any]) -> bool:
    """False for the launcher of an MPIJob, which MPI Operator makes before Kueue can place it."""
    return any("nvidia.com/gpu" in (box.get("resources") or {}).get("limits", {}) for box in spec["containers"])


def placed(jobs: Jobs) -> list[str]:
    """The nodes on which pods have a machine, each of which Kueue has named before."""
    specs = [pod["spec"] for pod in jobs.pods().values() if "nodeName" in pod["spec"]]
    specs = [spec for spec in specs if takes_a_machine(spec)]
    assert all(spec["nodeSelector"]["kubernetes.io/hostname"] == spec["nodeName"] for spec in specs)
    return sorted(spec["nodeName"] for spec in specs)


@contextmanager
def in_quarantine(jobs: Jobs, node: str, *, tainted: bool) -> Iterator[None]:
    """A node as `aks-infiniband replace` has it before its restart (tainted), and after."""
    quarantine(jobs.stack.cluster(), node, f"{POOL}-1", tainted=tainted)
    try:
        yield
    finally:
        release(jobs.stack.cluster(), node)


def test_a_queued_job_gets_a_machine_for_each_pod_before_one_of_them_starts(jobs: Jobs) -> None:
    jobs.run("indexed-job", QUEUE)
    jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    (assignment,) = workload(jobs)["status"]["admission"]["podSetAssignments"]
    assert assignment["topologyAssignment"]["levels"] == ["kubernetes.io/hostname"]
    assert set(assignment["flavors"].values()) == {f"infiniband-{POOL}"}
    assert placed(jobs) == machines(jobs)


@pytest.mark.parametrize("example", list(ENDS))
def test_a_job_of_each_kind_waits_for_the_one_before_it_and_runs_to_its_end(jobs: Jobs, example: str) -> None:
    kind, name, ended = ENDS[example]
    jobs.run("indexed-job", QUEUE, lasts=True)
    jobs.eventually(lambda: len(placed(jobs)) == 2)
    before = jobs.pods()
    jobs.run(example, QUEUE)
    jobs.eventually(lambda: any(condition(each, "QuotaReserved").get("status") == "False" for each in queued(jobs)))
    assert set(jobs.pods()) == set(before), "the first has the quota of both machines"
    jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    jobs.eventually(lambda: jobs.has(kind, name, ended))
    placed(jobs)


@pytest.mark.parametrize("tainted", [True, False])
def test_a_node_in_quarantine_gets_no_pods_and_a_job_that_needs_it_waits_as_a_whole(jobs: Jobs, tainted: bool) -> None:
    bad, good = machines(jobs)
    with in_quarantine(jobs, bad, tainted=tainted):
        jobs.run("indexed-job", QUEUE)
        why = jobs.eventually(lambda: condition(workload(jobs), "QuotaReserved").get("message"))
        assert "topology" in why, why
        assert jobs.pods() == {}, "it holds no machine"
        jobs.clear()
        jobs.run("indexed-job", QUEUE, machines=1)
        jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
        assert placed(jobs) == [good]
        jobs.clear()
        jobs.run("indexed-job", QUEUE)
        jobs.eventually(lambda: condition(workload(jobs), "QuotaReserved").get("status") == "False")
    jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    assert placed(jobs) == [bad, good]


def test_what_runs_on_a_node_when_it_is_taken_out_goes_on(jobs: Jobs) -> None:
    jobs.run("indexed-job", QUEUE, lasts=True)
    jobs.eventually(lambda: all(pod["status"]["phase"] == "Running" for pod in jobs.pods().values()) and jobs.pods())
    pods = set(jobs.pods())
    with in_quarantine(jobs, machines(jobs)[0], tainted=True):
        jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    assert set(jobs.pods()) == pods
    assert not condition(workload(jobs), "Evicted")


def test_a_servers_group_of_pods_gets_its_machines_too(jobs: Jobs) -> None:
    jobs.run("vllm", QUEUE)
    (server,) = [each["metadata"]["name"] for each in jobs.get("leaderworkerset")["items"]]
    jobs.eventually(lambda: jobs.has("leaderworkerset", server, "Available"))
    assert placed(jobs) == machines(jobs)


def test_other_levels_are_told_once_no_queue_names_the_flavor_and_a_node_without_the_label_gets_no_pods(
    jobs: Jobs,
) -> None:
    stack, kubeconfig, (labelled, _) = jobs.stack, jobs.stack.kubeconfig(), machines(jobs)
    kubectl(kubeconfig, "label", "node", labelled, f"{RACK}=r1")
    stack.settings(schedulerTopology={"scheduler": "kueue", "levels": [RACK]})
    held = stack.up()
    assert not held.succeeded
    assert "finalizers might be preventing deletion (kueue.x-k8s.io/resource-in-use)" in held.said
    kubectl(kubeconfig, "delete", "--filename", "-", given=QUEUES)
    told = stack.up()
    assert told.succeeded, told.said
    assert {name.split()[0] for name in told.changed} <= {"Topology", "ResourceFlavor"}
    again = stack.up()
    assert again.changed == {}, again.said
    kubectl(kubeconfig, "apply", "--filename", "-", given=QUEUES)
    jobs.run("indexed-job", QUEUE, machines=1)
    jobs.eventually(lambda: jobs.has("job", "train", "Complete"))
    assert placed(jobs) == [labelled]
    jobs.clear()
    jobs.run("indexed-job", QUEUE)
    jobs.eventually(lambda: condition(workload(jobs), "QuotaReserved").get("status") == "False")
    assert jobs.pods() == {}
