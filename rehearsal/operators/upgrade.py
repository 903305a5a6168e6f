"""Rolling a driver over the nodes, a few at a time: cordon, wait for jobs, drain, replace the driver's pod, uncordon.

States, their order and what each waits for are those of NVIDIA's upgrade library in its in-place mode
(k8s-operator-libs, pkg/upgrade: consts.go, common_manager.go, upgrade_inplace.go), kept in a label of the node; a node
goes one state further at every look.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from rehearsal.operators.plan import Document, Plan, Snapshot, labels_of
from rehearsal.operators.upgrade_step import CORDON, DONE, REQUIRED, DriverKind, NodeDriver, Step
from rehearsal.operators.workloads import latest_revision, outdated, pods_of

_NOT_UNDER_WAY: Final = frozenset({None, DONE, REQUIRED})


def forget(plan: Plan, nodes: Sequence[Document], kind: DriverKind) -> None:
    """Remove the upgrade labels. Without autoUpgrade a driver's pod is replaced only if a person deletes it."""
    for node in nodes:
        plan.label(node, {kind.label: None})


def roll(
    plan: Plan,
    snapshot: Snapshot,
    *,
    daemon_sets: Sequence[Document],
    kind: DriverKind,
    policy: Mapping[str, object],
    now: str,
) -> None:
    """Take every node one step further, and add to the plan what that needs.

    policy: `upgradePolicy` of the driver's section with autoUpgrade, as the definition's defaults leave it.
    now: the time, RFC 3339.

    Nothing is done while a DaemonSet lacks a pod, as between the end of an old driver and the start of the new one:
    its node would not count as being upgraded, and one node too many would start (BuildState in upgrade_state.go).
    The library passes over a pod that is bound to no node yet, and can start one too many in that moment; here such a
    pod counts as lacking, so that a rehearsal does not depend on how fast the scheduler is.
    """
    if any(lacks_pods(daemon_set, snapshot) for daemon_set in daemon_sets):
        return
    drivers = _drivers(snapshot, daemon_sets, kind)
    free = _free_slots(policy, drivers)
    for driver in drivers:
        step = Step(plan=plan, snapshot=snapshot, driver=driver, kind=kind, policy=policy, now=now)
        starts = driver.state == REQUIRED and labels_of(driver.node).get(kind.skip_label) != "true"
        if starts and (free > 0 or driver.is_cordoned):
            free -= 1
            step.enter(CORDON)
        else:
            step.go_on()


def lacks_pods(daemon_set: Document, snapshot: Snapshot) -> bool:
    """True if a pod of the DaemonSet has still to be made, or bound to its node."""
    desired = (daemon_set.get("status") or {}).get("desiredNumberScheduled", 0)
    bound = [pod for pod in pods_of(daemon_set, snapshot) if pod["spec"].get("nodeName")]
    return bool(desired != len(bound))


def _drivers(snapshot: Snapshot, daemon_sets: Sequence[Document], kind: DriverKind) -> list[NodeDriver]:
    nodes = {node["metadata"]["name"]: node for node in snapshot.of("Node")}
    drivers = []
    for daemon_set in daemon_sets:
        revision = latest_revision(daemon_set, snapshot)
        for pod in pods_of(daemon_set, snapshot):
            node = nodes.get(pod["spec"].get("nodeName", ""))
            if node is not None:
                state = labels_of(node).get(kind.label)
                drivers.append(NodeDriver(node=node, pod=pod, is_outdated=outdated(pod, revision), state=state))
    return sorted(drivers, key=lambda driver: driver.name)


def _free_slots(policy: Mapping[str, object], drivers: Sequence[NodeDriver]) -> int:
    """The number of further nodes that may start: maxParallelUpgrades 0 means all at once, and maxUnavailable bounds
    both.
    """
    parallel = int(str(policy.get("maxParallelUpgrades", 1)))
    under_way = sum(driver.state not in _NOT_UNDER_WAY for driver in drivers)
    waiting = sum(driver.state == REQUIRED for driver in drivers)
    most = _scaled(policy.get("maxUnavailable"), len(drivers))
    unavailable = sum(driver.is_cordoned or _is_down(driver.node) or driver.state == CORDON for driver in drivers)
    free = min(parallel - under_way if parallel else waiting, most)
    if unavailable >= most:
        return 0
    return min(free, most - unavailable) if most < len(drivers) else free


def _scaled(value: object, total: int) -> int:
    """A number, or a share of the nodes, rounded up; nothing means all of them."""
    if value is None:
        return total
    text = str(value)
    return math.ceil(int(text.removesuffix("%")) * total / 100) if text.endswith("%") else int(text)


def _is_down(node: Document) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Ready" and condition["status"] != "True" for condition in conditions)
