"""A new driver version rolls over the nodes, a few at a time, each cordoned and drained while its pod is replaced."""

from typing import Any

import pytest

from rehearsal.operators.network.driver_upgrade import OFED as OFED_UPGRADE
from rehearsal.operators.network.ofed import kernel_hash
from rehearsal.operators.network.reconcile import OPERATOR_LABELS, reconcile
from rehearsal.operators.plan import labels_of

NOW = "2026-01-01T01:00:00Z"
OFED = f"mofed-ubuntu24.04-{kernel_hash('6.8.0-1025-azure')}-ds"
NODES = ("ib-0", "ib-1", "ib-2")
DRAIN = {"enable": True, "force": True, "podSelector": "", "timeoutSeconds": 300, "deleteEmptyDir": True}


def spec(**policy: Any) -> dict[str, Any]:
    return {"ofedDriver": {"image": "ofed", "repository": "r", "version": "v1", "upgradePolicy": policy}}


@pytest.fixture
def upgrading(cluster: Any, settle: Any) -> Any:
    """A policy with the given rules, all pods ready, and the template just changed."""

    def start(**policy: Any) -> Any:
        cluster.operator("network-operator", OPERATOR_LABELS)
        for name in NODES:
            cluster.node(name)
        cluster.policy(spec(**policy))
        cluster.obey(reconcile(cluster.snapshot(), now=NOW))
        cluster.revision(OFED, 1)
        for name in NODES:
            cluster.pod(OFED, name, ready=True)
        settle(cluster, reconcile)
        cluster.revision(OFED, 2)
        return cluster

    return start


def state(cluster: Any, name: str = "ib-0") -> str | None:
    return labels_of(cluster.objects["Node"][name]).get(OFED_UPGRADE.label)


def states(cluster: Any) -> list[str | None]:
    return [state(cluster, name) for name in NODES]


def cordoned(cluster: Any) -> list[str]:
    return [name for name in NODES if cluster.objects["Node"][name]["spec"].get("unschedulable")]


def pods(cluster: Any) -> set[str]:
    return {name for name in cluster.objects["Pod"] if not name.startswith("mofed")}


def step(cluster: Any, now: str = NOW) -> list[str]:
    """One reconcile; the names of the nodes whose driver was taken away, which the DaemonSet controller replaces."""
    plan = reconcile(cluster.snapshot(), now=now)
    cluster.obey(plan)
    restarted = [pod["spec"]["nodeName"] for pod in plan.deletions]
    for name in restarted:
        cluster.pod(OFED, name, ready=False, revision="hash-2")
    return restarted


def until(cluster: Any, wanted: str, name: str = "ib-0") -> list[str | None]:
    """Step until a node is in a state; the states that it went through."""
    seen: list[str | None] = []
    for _ in range(12):
        if state(cluster, name) != (seen[-1] if seen else None):
            seen.append(state(cluster, name))
        if seen and seen[-1] == wanted:
            return seen
        step(cluster)
    raise AssertionError(f"{name} does not come to {wanted}; it went through {seen}")


def test_nodes_in_step_with_the_template_are_done(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True)
    assert states(cluster) == ["upgrade-done"] * 3


def test_one_node_at_a_time_is_cordoned_and_gets_the_new_driver(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1)
    for expected in NODES:
        restarted: list[str] = []
        for _ in range(8):
            restarted += step(cluster)
        assert restarted == [expected]
        assert cordoned(cluster) == [expected], "it stays cordoned until its driver is ready"
        cluster.pod(OFED, expected, ready=True, revision="hash-2")
    for _ in range(8):
        assert step(cluster) == []
    assert states(cluster) == ["upgrade-done"] * 3
    assert cordoned(cluster) == []


def test_no_other_node_starts_before_the_new_driver_pod_is_made_and_then_bound_to_the_node(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1)
    until(cluster, "pod-restart-required")
    cluster.obey(reconcile(cluster.snapshot(), now=NOW))
    assert f"{OFED}-ib-0" not in cluster.objects["Pod"]
    before = states(cluster)
    assert [name for _ in range(8) for name in step(cluster)] == []
    pod = cluster.pod(OFED, "ib-0", ready=False, revision="hash-2")
    del pod["spec"]["nodeName"]
    assert [name for _ in range(8) for name in step(cluster)] == []
    assert (states(cluster), cordoned(cluster)) == (before, ["ib-0"])
    pod["spec"]["nodeName"] = "ib-0"
    cluster.pod(OFED, "ib-0", ready=True, revision="hash-2")
    until(cluster, "upgrade-done")


def test_a_node_goes_through_the_states_of_nvidias_library_in_their_order(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1, drain=DRAIN)
    seen = until(cluster, "pod-restart-required")
    assert seen == [
        "upgrade-done",
        "upgrade-required",
        "cordon-required",
        "wait-for-jobs-required",
        "drain-required",
        "pod-restart-required",
    ]
    step(cluster)
    cluster.pod(OFED, "ib-0", ready=True, revision="hash-2")
    assert until(cluster, "upgrade-done")[-2:] == ["uncordon-required", "upgrade-done"]


def test_a_drain_evicts_what_it_may_before_the_driver_goes_and_spares_daemon_sets_and_the_operator(
    upgrading: Any,
) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1, drain=DRAIN)
    cluster.workload("training", "ib-0", volumes=[{"name": "dshm", "emptyDir": {}}])
    cluster.workload("alone", "ib-0", controlled=False)
    cluster.workload("elsewhere", "ib-1")
    spared = cluster.workload("operator", "ib-0")
    spared["metadata"]["labels"]["nvidia.com/ofed-driver-upgrade-drain.skip"] = "true"
    until(cluster, "drain-required")
    assert step(cluster) == []
    assert pods(cluster) == {"elsewhere", "operator"}
    assert f"{OFED}-ib-0" in cluster.objects["Pod"], "the driver goes last"
    until(cluster, "pod-restart-required")
    assert step(cluster) == ["ib-0"]


def test_a_drain_waits_for_pods_that_take_their_time(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, drain=DRAIN)
    slow = cluster.workload("slow", "ib-0")
    slow["metadata"]["deletionTimestamp"] = NOW
    until(cluster, "drain-required")
    for _ in range(3):
        assert step(cluster) == []
    assert state(cluster) == "drain-required"
    del cluster.objects["Pod"]["slow"]
    assert until(cluster, "pod-restart-required")


@pytest.mark.parametrize(
    ("drain", "workload"),
    [
        ({**DRAIN, "force": False}, {"controlled": False}),
        ({**DRAIN, "deleteEmptyDir": False}, {"volumes": [{"name": "dshm", "emptyDir": {}}]}),
    ],
)
def test_a_pod_that_the_policy_does_not_let_go_fails_the_upgrade_and_nothing_is_evicted(
    upgrading: Any, drain: dict[str, Any], workload: dict[str, Any]
) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1, drain=drain)
    cluster.workload("stays", "ib-0", **workload)
    until(cluster, "upgrade-failed")
    assert pods(cluster) == {"stays"}
    assert cordoned(cluster) == ["ib-0"]
    assert states(cluster)[1:] == ["upgrade-required"] * 2, "a failed node counts as one under way"


def test_a_drain_that_takes_too_long_fails(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, drain={**DRAIN, "timeoutSeconds": 60})
    cluster.workload("slow", "ib-0")["metadata"]["deletionTimestamp"] = NOW
    until(cluster, "drain-required")
    step(cluster, "2026-01-01T01:00:59Z")
    assert state(cluster) == "drain-required"
    step(cluster, "2026-01-01T01:02:00Z")
    assert state(cluster) == "upgrade-failed"


def test_a_failed_node_goes_on_once_its_driver_is_the_new_one_and_ready(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, drain={**DRAIN, "force": False})
    cluster.workload("alone", "ib-0", controlled=False)
    until(cluster, "upgrade-failed")
    cluster.pod(OFED, "ib-0", ready=True, revision="hash-2")
    assert until(cluster, "upgrade-done")[-2:] == ["uncordon-required", "upgrade-done"]
    assert "ib-0" not in cordoned(cluster)


def test_only_pods_that_the_drains_selector_names_leave(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, drain={**DRAIN, "podSelector": "app in (training, inference),!keep"})
    for name in ("training", "other"):
        cluster.workload(name, "ib-0")
    cluster.workload("inference", "ib-0")["metadata"]["labels"]["keep"] = "yes"
    until(cluster, "pod-restart-required")
    assert pods(cluster) == {"other", "inference"}


def test_jobs_that_the_policy_waits_for_are_waited_for(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, waitForCompletion={"podSelector": "app=training"})
    job = cluster.workload("training", "ib-0")
    until(cluster, "wait-for-jobs-required")
    for _ in range(3):
        step(cluster)
    assert state(cluster) == "wait-for-jobs-required"
    job["status"]["phase"] = "Succeeded"
    assert until(cluster, "pod-restart-required")


def test_a_node_that_was_cordoned_before_stays_so(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True)
    cluster.objects["Node"]["ib-0"]["spec"]["unschedulable"] = True
    until(cluster, "pod-restart-required")
    step(cluster)
    cluster.pod(OFED, "ib-0", ready=True, revision="hash-2")
    until(cluster, "upgrade-done")
    assert "ib-0" in cordoned(cluster)


def test_a_node_that_is_labelled_to_be_skipped_keeps_its_driver(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1)
    cluster.objects["Node"]["ib-0"]["metadata"]["labels"]["nvidia.com/ofed-driver-upgrade.skip"] = "true"
    restarted = [name for _ in range(8) for name in step(cluster)]
    assert restarted == ["ib-1"]
    assert state(cluster) == "upgrade-required"


@pytest.mark.parametrize(("parallel", "at_once"), [(2, 2), (0, 3)])
def test_as_many_nodes_at_once_as_the_policy_allows_and_zero_means_all(
    upgrading: Any, parallel: int, at_once: int
) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=parallel)
    restarted = [name for _ in range(8) for name in step(cluster)]
    assert restarted == list(NODES[:at_once])


def test_without_automatic_upgrades_old_pods_stay_and_no_node_is_labelled(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=False)
    assert [name for _ in range(8) for name in step(cluster)] == []
    assert states(cluster) == [None] * 3
