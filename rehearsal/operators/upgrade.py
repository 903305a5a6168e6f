"""Rolling a driver over the nodes: cordon, replace the driver's pod, uncordon, a few nodes at a time.

The states are those of NVIDIA's upgrade library, kept in a label of the node. Between cordoning and replacing, the real
one also waits for jobs, evicts pods that use the devices and drains the node; the stand-in goes straight on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rehearsal.operators.plan import Doc, Plan, Snapshot, labels_of
from rehearsal.operators.workloads import latest_revision, outdated, pod_ready, pods_of

DONE: Final = "upgrade-done"
REQUIRED: Final = "upgrade-required"
CORDON: Final = "cordon-required"
RESTART: Final = "pod-restart-required"
UNCORDON: Final = "uncordon-required"
_UNDER_WAY: Final = frozenset({CORDON, RESTART, UNCORDON})


@dataclass(frozen=True, kw_only=True)
class _Driver:
    """The driver's pod on one node."""

    node: Doc
    pod: Doc
    is_outdated: bool
    state: str | None


def roll(
    plan: Plan,
    snapshot: Snapshot,
    *,
    daemon_sets: Sequence[Doc],
    label: str,
    policy: Mapping[str, object],
) -> None:
    """Take every node one step further, and add to the plan what that needs.

    label: the node label that holds the state. policy: `upgradePolicy` of the driver's section, as the definition's
    defaults leave it; without `autoUpgrade` the label is taken away and a pod is replaced when someone deletes it.
    """
    if not policy.get("autoUpgrade"):
        for node in snapshot.of("Node"):
            plan.label(node, {label: None})
        return
    drivers = _drivers(snapshot, daemon_sets, label)
    free = _free_slots(policy, [driver.state for driver in drivers])
    for driver in drivers:
        state = _next_state(driver, may_start=free > 0)
        if state == CORDON and driver.state == REQUIRED:
            free -= 1
        plan.label(driver.node, {label: state})
        if driver.state == CORDON:
            plan.cordons[driver.node["metadata"]["name"]] = True
        if driver.state == RESTART and driver.is_outdated and "deletionTimestamp" not in driver.pod["metadata"]:
            plan.deletions.append(driver.pod)
        if driver.state == UNCORDON:
            plan.cordons[driver.node["metadata"]["name"]] = False


def _drivers(snapshot: Snapshot, daemon_sets: Sequence[Doc], label: str) -> list[_Driver]:
    nodes = {node["metadata"]["name"]: node for node in snapshot.of("Node")}
    found = []
    for daemon_set in daemon_sets:
        revision = latest_revision(daemon_set, snapshot)
        for pod in pods_of(daemon_set, snapshot):
            node = nodes.get(pod["spec"].get("nodeName", ""))
            if node is not None:
                state = labels_of(node).get(label)
                found.append(_Driver(node=node, pod=pod, is_outdated=outdated(pod, revision), state=state))
    return sorted(found, key=lambda driver: str(driver.node["metadata"]["name"]))


def _free_slots(policy: Mapping[str, object], states: Sequence[str | None]) -> int:
    """How many more nodes may start; `maxParallelUpgrades` 0 means all at once."""
    most = policy.get("maxParallelUpgrades", 1)
    parallel = int(str(most)) or len(states)
    return parallel - sum(state in _UNDER_WAY for state in states)


def _next_state(driver: _Driver, *, may_start: bool) -> str:
    match driver.state:
        case "upgrade-required":
            return CORDON if may_start else REQUIRED
        case "cordon-required":
            return RESTART
        case "pod-restart-required":
            return UNCORDON if not driver.is_outdated and pod_ready(driver.pod) else RESTART
        case "uncordon-required":
            return DONE
        case _:
            return REQUIRED if driver.is_outdated else DONE
