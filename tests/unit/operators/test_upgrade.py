"""A new driver version rolls over the nodes, a few at a time, each cordoned while its pod is replaced."""

from typing import Any

import pytest

from rehearsal.operators.network.nodes import UPGRADE_LABEL
from rehearsal.operators.network.ofed import kernel_hash
from rehearsal.operators.network.reconcile import OPERATOR_LABELS, reconcile
from rehearsal.operators.plan import labels_of

NOW = "2026-01-01T01:00:00Z"
OFED = f"mofed-ubuntu24.04-{kernel_hash('6.8.0-1025-azure')}-ds"
NODES = ("ib-0", "ib-1", "ib-2")


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


def states(cluster: Any) -> list[str | None]:
    return [labels_of(cluster.objects["Node"][name]).get(UPGRADE_LABEL) for name in NODES]


def cordoned(cluster: Any) -> list[str]:
    return [name for name in NODES if cluster.objects["Node"][name]["spec"].get("unschedulable")]


def step(cluster: Any) -> list[str]:
    """One reconcile; the names of the nodes whose driver was taken away, which the DaemonSet controller replaces."""
    plan = reconcile(cluster.snapshot(), now=NOW)
    cluster.obey(plan)
    restarted = [pod["spec"]["nodeName"] for pod in plan.deletions]
    for name in restarted:
        cluster.pod(OFED, name, ready=False, revision="hash-2")
    return restarted


def test_nodes_in_step_with_the_template_are_done(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True)
    assert states(cluster) == ["upgrade-done"] * 3


def test_one_node_at_a_time_is_cordoned_and_gets_the_new_driver(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=1)
    for expected in NODES:
        restarted: list[str] = []
        for _ in range(6):
            restarted += step(cluster)
        assert restarted == [expected]
        assert cordoned(cluster) == [expected], "it stays cordoned until its driver is ready"
        cluster.pod(OFED, expected, ready=True, revision="hash-2")
    for _ in range(6):
        assert step(cluster) == []
    assert states(cluster) == ["upgrade-done"] * 3
    assert cordoned(cluster) == []


@pytest.mark.parametrize(("parallel", "at_once"), [(2, 2), (0, 3)])
def test_as_many_nodes_at_once_as_the_policy_allows_and_zero_means_all(
    upgrading: Any, parallel: int, at_once: int
) -> None:
    cluster = upgrading(autoUpgrade=True, maxParallelUpgrades=parallel)
    restarted = [name for _ in range(6) for name in step(cluster)]
    assert restarted == list(NODES[:at_once])


def test_without_automatic_upgrades_old_pods_stay_and_no_node_is_labelled(upgrading: Any) -> None:
    cluster = upgrading(autoUpgrade=False)
    assert [name for _ in range(6) for name in step(cluster)] == []
    assert states(cluster) == [None] * 3
