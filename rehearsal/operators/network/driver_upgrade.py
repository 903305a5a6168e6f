"""OFED upgrades: each policy rolls its own driver over its own nodes (controllers/upgrade_controller.go of 26.4.1)."""

from collections.abc import Sequence
from typing import Final

from rehearsal.operators.network.nodes import node_policy_owner, selected_nodes
from rehearsal.operators.network.ofed import OFED_LABEL
from rehearsal.operators.network.parts import CLUSTER_POLICY_OWNER, OWNER_LABEL
from rehearsal.operators.plan import Document, Plan, Snapshot
from rehearsal.operators.upgrade import forget, roll
from rehearsal.operators.upgrade_step import DriverKind

OFED: Final = DriverKind(name="ofed")


def roll_drivers(
    plan: Plan,
    snapshot: Snapshot,
    policy: Document | None,
    node_policies: Sequence[Document],
    *,
    namespace: str,
    now: str,
) -> None:
    """Take the driver of every policy that upgrades by itself one step further, and forget the others' states."""
    with_driver = [node_policy for node_policy in node_policies if "ofedDriver" in (node_policy.get("spec") or {})]
    owners = [(node_policy_owner(node_policy), node_policy) for node_policy in with_driver]
    if policy is not None and _upgrades(policy):
        owners.append((CLUSTER_POLICY_OWNER, policy))
    else:
        managed = {
            node["metadata"]["name"] for node_policy in with_driver for node in selected_nodes(snapshot, node_policy)
        }
        forget(plan, [node for node in snapshot.of("Node") if node["metadata"]["name"] not in managed], OFED)
    for owner, node_policy in owners:
        if not _upgrades(node_policy):
            forget(plan, selected_nodes(snapshot, node_policy), OFED)
            continue
        daemon_sets = snapshot.of("DaemonSet", namespace=namespace, labels={OFED_LABEL: "", OWNER_LABEL: owner})
        rules = node_policy["spec"]["ofedDriver"]["upgradePolicy"]
        roll(plan, snapshot, daemon_sets=daemon_sets, kind=OFED, policy=rules, now=now)


def _upgrades(policy: Document) -> bool:
    driver = (policy.get("spec") or {}).get("ofedDriver") or {}
    return bool((driver.get("upgradePolicy") or {}).get("autoUpgrade"))
