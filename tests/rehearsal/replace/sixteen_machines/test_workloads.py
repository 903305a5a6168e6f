"""A bad machine that a job runs on: `replace` waits for the job, or evicts it, by its flag."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, cast

import pytest
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod
from lightkube.resources.policy_v1 import PodDisruptionBudget
from lightkube.types import CascadeType

from tests.rehearsal.replace.replacing import CURED_BY_RESTART, LIMIT_SECONDS, UNBOUNDED, Fleet, steps, tell
from tests.rehearsal.waiting import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]
NAMESPACE: Final = "default"
RUNS: Final = {"app": "training"}


class Training:
    """A Job whose pods hold the RDMA resource of a node each. seconds: how long they run."""

    def __init__(self, fleet: Fleet, *, pods: int, seconds: int) -> None:
        self._client = fleet.stack.cluster()
        self._client.create(cast("Job", Job.from_dict(_job(fleet.pool, pods, seconds))))

    def nodes(self) -> list[str]:
        """The nodes of its pods."""
        running = [pod for pod in self.pods() if pod["status"]["phase"] == "Running"]
        return sorted(pod["spec"]["nodeName"] for pod in running)

    def pods(self) -> list[dict[str, Any]]:
        """Its pods, those too that have ended."""
        labels: dict[str, Any] = dict(RUNS)
        return [pod.to_dict() for pod in self._client.list(Pod, namespace=NAMESPACE, labels=labels)]

    def end(self) -> None:
        """Delete it, with its pods."""
        self._client.delete(Job, "training", namespace=NAMESPACE, cascade=CascadeType.FOREGROUND)
        eventually(lambda: not self.pods(), seconds=120)


def _job(pool: str, pods: int, seconds: int) -> dict[str, Any]:
    container = {
        "name": "rank",
        "image": "training:1",
        "command": ["python3", "-c", f"import time; time.sleep({seconds})"],
        "resources": {"requests": {"rdma/shared_ib": "1"}, "limits": {"rdma/shared_ib": "1"}},
    }
    apart = {"labelSelector": {"matchLabels": RUNS}, "topologyKey": "kubernetes.io/hostname"}
    spec = {
        "nodeSelector": {"agentpool": pool},
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 1,
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}},
        "containers": [container],
    }
    template = {"metadata": {"labels": RUNS}, "spec": spec}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "training", "namespace": NAMESPACE},
        "spec": {"parallelism": pods, "completions": pods, "template": template},
    }


@pytest.fixture
def budget(hbv4: Fleet) -> Iterator[None]:
    """A PodDisruptionBudget that lets none of two pods go; maxUnavailable is not for a Job's."""
    client = hbv4.stack.cluster()
    document = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "training", "namespace": NAMESPACE},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": RUNS}},
    }
    client.create(cast("PodDisruptionBudget", PodDisruptionBudget.from_dict(document)))
    yield
    client.delete(PodDisruptionBudget, "training", namespace=NAMESPACE)


def test_it_waits_until_the_job_has_ended_and_no_other_pod_comes(hbv4: Fleet, evidence: Path) -> None:
    job = Training(hbv4, pods=2, seconds=20)
    node = eventually(job.nodes, seconds=120)[0]
    hbv4.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    code, case = hbv4.replaced(evidence, node)
    tell("slow, under a job that is waited for", case)
    assert (code, case["outcome"], steps(case)) == (0, "cured", CURED_BY_RESTART)
    (ran,) = [pod for pod in job.pods() if pod["spec"]["nodeName"] == node]
    assert ran["status"]["phase"] == "Succeeded"
    ended = ran["status"]["containerStatuses"][0]["state"]["terminated"]["finishedAt"]
    emptied = next(line["at"] for line in case["lines"] if line["step"] == "Emptied")
    assert moment(emptied) >= moment(ended)
    job.end()
    assert hbv4.is_whole()


def moment(text: Any) -> datetime:
    return text if isinstance(text, datetime) else datetime.fromisoformat(text)


def test_it_evicts_the_pod_where_it_is_told_to_as_soon_as_its_budget_lets_it_go(
    hbv4: Fleet, evidence: Path, budget: None
) -> None:
    job = Training(hbv4, pods=2, seconds=600)
    eventually(lambda: len(job.nodes()) == 2, seconds=120)
    node = job.nodes()[0]
    hbv4.stack.fault("slow", node=node, factor=0.8, curedBy="restart")
    going = hbv4.command(node, "--drain", "evict", *UNBOUNDED, "--evidence", str(evidence))
    assert going.stderr
    for line in going.stderr:
        if "disruption budgets keep training-" in line:
            break
    assert node in job.nodes()
    allowed = {"spec": {"minAvailable": 1}}
    hbv4.stack.cluster().patch(PodDisruptionBudget, "training", allowed, namespace=NAMESPACE)
    _, said = going.communicate(timeout=LIMIT_SECONDS)
    assert going.returncode == 0, said
    assert len(job.nodes()) == 2, "the Job has made another pod, on another node"
    job.end()
    assert hbv4.is_whole()


def test_a_pod_that_nobody_would_make_again_is_waited_for(hbv4: Fleet, evidence: Path) -> None:
    node, client = hbv4.node(13), hbv4.stack.cluster()
    container = {"name": "shell", "image": "tools:1", "command": ["sleep", "600"]}
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [container]}
    document = {"kind": "Pod", "metadata": {"name": "by-hand", "namespace": NAMESPACE}, "spec": spec}
    client.create(cast("Pod", Pod.from_dict({"apiVersion": "v1", **document})))
    going = hbv4.command(node, *UNBOUNDED, "--evidence", str(evidence))
    assert going.stderr
    for line in going.stderr:
        if "default/by-hand" in line:
            break
    client.delete(Pod, "by-hand", namespace=NAMESPACE)
    _, said = going.communicate(timeout=LIMIT_SECONDS)
    assert going.returncode == 0, said
    assert hbv4.is_whole()
