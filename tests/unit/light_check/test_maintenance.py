"""The pods of a node with announced maintenance: Events about their owners, evictions, and pods that stay."""

from datetime import UTC, datetime
from typing import Any

import pytest
from aks_infiniband.light_check.watch_documents import policies, rules, spared
from aks_infiniband.validation.payload.light_check.leaving import Leaving
from aks_infiniband.validation.payload.light_check.maintenance import (
    ANNOUNCE,
    DRAIN,
    DRAIN_FREEZE,
    KEEP,
    LEAD_SECONDS,
    drains,
    events_in,
    is_near,
)
from aks_infiniband.validation.payload.talk.api import ApiError

from tests.some_pools import pool

MESSAGE = "{} Scheduled: Wed, 26 Feb 2025 10:13:13 GMT. DurationInSeconds: -1.  For more information, see …"


NEAR = datetime(2025, 2, 26, 10, tzinfo=UTC).timestamp()


def announced(event: str, *, alone: bool = False) -> list[dict[str, Any]]:
    """The conditions of AKS's node problem detector. alone: the one that all events share."""
    said = [{"type": "VMEventScheduled", "status": "True", "message": MESSAGE.format(event)}]
    return said if alone else [*said, {**said[0], "type": f"{event}Scheduled"}]


def test_the_event_is_read_from_the_type_of_a_condition_or_from_the_message_of_the_shared_one() -> None:
    for event in ["Freeze", "Reboot", "Redeploy", "Preempt", "Terminate"]:
        for alone in [True, False]:
            assert events_in(announced(event, alone=alone)) == {event}


def test_only_the_events_that_the_setting_names_drain() -> None:
    for setting, event, drained in [
        (KEEP, "Reboot", False),
        (ANNOUNCE, "Reboot", False),
        (DRAIN, "Reboot", True),
        (DRAIN, "Redeploy", True),
        (DRAIN, "Preempt", True),
        (DRAIN, "Terminate", True),
        (DRAIN, "Freeze", False),
        (DRAIN_FREEZE, "Freeze", True),
        (DRAIN_FREEZE, "Reboot", True),
        (DRAIN, "Something", False),
        (DRAIN_FREEZE, "Something", False),
    ]:
        assert drains(setting, announced(event)) is drained


@pytest.mark.parametrize(
    ("message", "near"),
    [
        (MESSAGE.format("Reboot"), [False, True]),
        ("Reboot Scheduled: . DurationInSeconds: 9.", [True, True]),
        ("Reboot Scheduled: Wed, 99 Feb 2025 10:13:13 GMT.", [True, True]),
    ],
    ids=["half an hour before", "no time: it has begun", "a time that there is not"],
)
def test_pods_leave_half_an_hour_before_the_time_and_not_days_before(message: str, near: list[bool]) -> None:
    said = [{"type": "RebootScheduled", "status": "True", "message": message}]
    at = datetime(2025, 2, 26, 10, 13, 13, tzinfo=UTC).timestamp()
    assert [is_near(said, at - LEAD_SECONDS - 1), is_near(said, at - LEAD_SECONDS)] == near


def owned(kind: str, name: str, version: str = "batch/v1") -> list[dict[str, Any]]:
    return [{"apiVersion": version, "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}]


def pod(name: str, owners: Any = (), *, namespace: str = "team", phase: str = "Running", **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": list(owners), **more}
    return {"metadata": metadata, "status": {"phase": phase}}


class Cluster:
    """The API server as the watch sees it: the pods of a node, and the parents of Jobs and ReplicaSets."""

    def __init__(self, *pods: Any, kept: Any = (), parents: Any = None) -> None:
        self.pods, self.kept, self.parents = list(pods), set(kept), parents or {}
        self.evicted: list[str] = []
        self.events: dict[str, Any] = {}

    def pods_on(self, _: str) -> list[Any]:
        return self.pods

    def namespaced(self, version: str, plural: str, namespace: str, name: str) -> Any:
        if name not in self.parents:
            raise ApiError("GET", 404, "not found")
        assert (version, plural, namespace) in (("batch/v1", "jobs", "team"), ("apps/v1", "replicasets", "team"))
        return {"metadata": {"name": name, "ownerReferences": self.parents[name]}}

    def evict(self, namespace: str, name: str, uid: str) -> None:
        assert (namespace, uid) == ("team", f"uid-{name}")
        if name in self.kept:
            raise ApiError("POST", 429, "Cannot evict pod as it would violate the pod's disruption budget")
        self.evicted.append(name)

    def create_named_event(self, event: Any) -> None:
        name = event["metadata"]["name"]
        if name in self.events:
            raise ApiError("POST", 409, "there")
        self.events[name] = event

    @property
    def told(self) -> list[tuple[str, str]]:
        """Kind and name of the objects that have an Event."""
        return [(each["involvedObject"]["kind"], each["involvedObject"]["name"]) for each in self.events.values()]


def heeded(cluster: Cluster, setting: str, event: str = "Reboot", words: str = "", now: float = NEAR) -> Cluster:
    conditions = [{**one, "message": one["message"] + words} for one in announced(event)]
    Leaving(cluster, spared("ours")).heed("a", conditions, setting, now)  # type: ignore[arg-type]
    return cluster


RANKS = (pod("r-0", owned("Job", "train-0")), pod("r-1", owned("Job", "train-0")))
PARENTS = {
    "train-0": owned("JobSet", "train", "jobset.x-k8s.io/v1alpha2"),
    "web-7": owned("Deployment", "web", "apps/v1"),
}


def test_without_the_setting_no_pod_is_read() -> None:
    assert heeded(Cluster(*RANKS), KEEP).events == {}


def test_the_workload_that_owns_the_pods_is_told_once_with_the_node_the_pods_and_azures_words() -> None:
    mpi = pod("worker-0", owned("MPIJob", "mpi", "kubeflow.org/v2beta1"))
    web = pod("web-7-x", owned("ReplicaSet", "web-7", "apps/v1"))
    plain = pod("one-x", owned("Job", "one"))
    cluster = Cluster(*RANKS, mpi, web, plain, pod("by-hand"), parents={**PARENTS, "one": []})
    heeded(heeded(cluster, ANNOUNCE), ANNOUNCE, now=NEAR + 15)
    owners = [("JobSet", "train"), ("MPIJob", "mpi"), ("Deployment", "web"), ("Job", "one"), ("Pod", "by-hand")]
    assert cluster.told == owners
    first = next(iter(cluster.events.values()))
    assert (first["reason"], first["involvedObject"]["uid"]) == ("InfiniBandMaintenance", "uid-train")
    assert first["metadata"]["namespace"] == first["involvedObject"]["namespace"] == "team"
    for part in ("node a", "Reboot Scheduled: Wed, 26 Feb 2025 10:13:13 GMT", "affects pods r-0, r-1", "Move the work"):
        assert part in first["message"]
    assert cluster.evicted == []


def test_a_job_that_is_gone_is_told_itself() -> None:
    assert heeded(Cluster(RANKS[0]), ANNOUNCE).told == [("Job", "train-0")]


def test_a_time_that_moves_is_told_anew() -> None:
    cluster = heeded(Cluster(*RANKS), ANNOUNCE)
    heeded(cluster, ANNOUNCE, words=" moved")
    assert len(cluster.events) == 2


def test_pods_are_evicted_as_budgets_permit_and_those_of_the_node_or_without_a_controller_stay() -> None:
    daemon = pod("ds", owned("DaemonSet", "ds", "apps/v1"))
    mirror = pod("static", annotations={"kubernetes.io/config.mirror": "x"})
    ours, system = (
        pod("check", owned("Job", "c"), namespace="ours"),
        pod("dns", owned("Job", "d"), namespace="kube-system"),
    )
    over = pod("done", owned("Job", "e"), phase="Succeeded")
    going = pod("going", owned("Job", "f"), deletionTimestamp="now")
    cluster = Cluster(*RANKS, daemon, mirror, ours, system, over, going, pod("by-hand"), kept=["r-1"], parents=PARENTS)
    heeded(cluster, DRAIN)
    assert cluster.evicted == ["r-0"]
    assert cluster.told == [("JobSet", "train"), ("Pod", "by-hand")]
    train, by_hand = (each["message"] for each in cluster.events.values())
    assert "Evicted 30 minutes before that time, or as soon as disruption budgets permit" in train
    assert "no controller would create it again" in by_hand
    cluster.kept.clear()
    heeded(cluster, DRAIN, now=NEAR + 15)
    assert cluster.evicted[1:] == ["r-0", "r-1"], "the budget permits it now"


def test_a_freeze_evicts_no_pod_without_the_setting_for_it() -> None:
    assert heeded(Cluster(*RANKS), DRAIN, "Freeze").evicted == []
    assert heeded(Cluster(*RANKS), DRAIN_FREEZE, "Freeze").evicted == ["r-0", "r-1"]


@pytest.mark.parametrize(
    ("maintenance", "resources"),
    [
        ("keep", {"nodes"}),
        ("announce", {"nodes", "pods", "jobs", "replicasets", "events"}),
        ("drain", {"nodes", "pods", "jobs", "replicasets", "events", "pods/eviction"}),
    ],
)
def test_the_account_reads_and_evicts_pods_only_if_a_pool_says_so(maintenance: Any, resources: set[str]) -> None:
    given = rules([pool(admission="measured", maintenance=maintenance)], "ns")[None]
    assert {resource for rule in given for resource in rule["resources"]} == resources


def test_a_policy_keeps_the_account_from_pods_of_the_system() -> None:
    (rule,) = policies("ns")["-evictions"]["matchConstraints"]["resourceRules"]
    assert (rule["operations"], rule["resources"]) == (["CREATE"], ["pods/eviction"])
    assert {"kube-system", "gpu-operator", "network-operator", "ns"} <= set(spared("ns"))
