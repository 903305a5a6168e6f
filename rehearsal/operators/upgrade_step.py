"""One node's way through a driver upgrade: the actions of each state, and the state that comes next.

NVIDIA's upgrade library in its in-place mode: k8s-operator-libs, pkg/upgrade (consts.go, common_manager.go).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from rehearsal.operators.drain import Leaving, leaving
from rehearsal.operators.plan import Document, Plan, Snapshot, annotation, labels_of
from rehearsal.operators.selectors import selects
from rehearsal.operators.workloads import pod_ready

REQUIRED: Final = "upgrade-required"
CORDON: Final = "cordon-required"
WAIT_FOR_JOBS: Final = "wait-for-jobs-required"
POD_DELETION: Final = "pod-deletion-required"
DRAIN: Final = "drain-required"
RESTART: Final = "pod-restart-required"
VALIDATION: Final = "validation-required"
UNCORDON: Final = "uncordon-required"
DONE: Final = "upgrade-done"
FAILED: Final = "upgrade-failed"
_SINCE: Final = "rehearsal.aks-infiniband/upgrade-state-since"
"""Annotation of a node: when it came into its state; the real library keeps such times in memory and annotations."""
_MOST_RESTARTS: Final = 10
_VALIDATION_SECONDS: Final = 600


@dataclass(frozen=True, kw_only=True)
class DriverKind:
    """The differences between the operators' driver upgrades."""

    name: str
    """ofed or gpu: part of every label and annotation."""
    deletes: Callable[[Document], bool] | None = None
    """The pods of the state pod-deletion-required, which is passed over without it."""
    validator: Mapping[str, str] | None = None
    """Labels of the pod that has to be ready on the node afterwards."""

    @property
    def label(self) -> str:
        """The node label that holds the state."""
        return f"nvidia.com/{self.name}-driver-upgrade-state"

    @property
    def skip_label(self) -> str:
        """Node label that keeps a node out."""
        return f"nvidia.com/{self.name}-driver-upgrade.skip"

    @property
    def was_cordoned(self) -> str:
        """Node annotation: the node was cordoned before, and stays so."""
        return f"nvidia.com/{self.name}-driver-upgrade.node-initial-state.unschedulable"

    @property
    def stays(self) -> str:
        """Selector that spares the operator itself, which both operators add to the drain's."""
        return f"nvidia.com/{self.name}-driver-upgrade-drain.skip!=true"


@dataclass(frozen=True, kw_only=True)
class NodeDriver:
    """The driver's pod on one node."""

    node: Document
    pod: Document
    is_outdated: bool
    state: str | None

    @property
    def name(self) -> str:
        """Name of the node."""
        return str(self.node["metadata"]["name"])

    @property
    def is_cordoned(self) -> bool:
        """True if nothing new is scheduled on the node."""
        return bool(self.node["spec"].get("unschedulable"))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One node's way from the state that it is in to the next."""

    plan: Plan
    snapshot: Snapshot
    driver: NodeDriver
    kind: DriverKind
    policy: Mapping[str, object]
    now: str

    def enter(self, state: str) -> None:
        """Put the node into a state."""
        node = self.driver.node
        self.plan.label(node, {self.kind.label: state})
        if state != self.driver.state:
            # The first and the last state last for long: no time has to be kept for them.
            self.plan.annotate(node, {_SINCE: None if state in {REQUIRED, DONE} else self.now})

    def go_on(self) -> None:
        """Carry out the actions of the state, and leave it when that is done."""
        match self.driver.state:
            case "upgrade-required":
                pass
            case "cordon-required":
                self.plan.cordons[self.driver.name] = True
                self.enter(WAIT_FOR_JOBS)
            case "wait-for-jobs-required":
                self._wait_for_jobs()
            case "pod-deletion-required":
                self._delete_pods()
            case "drain-required":
                self._drain()
            case "pod-restart-required" | "upgrade-failed":
                self._restart()
            case "validation-required":
                self._validate()
            case "uncordon-required":
                self.plan.cordons[self.driver.name] = False
                self.enter(DONE)
            case _:
                self._begin()

    def _begin(self) -> None:
        if not self.driver.is_outdated:
            self.enter(DONE)
            return
        if self.driver.is_cordoned:
            self.plan.annotate(self.driver.node, {self.kind.was_cordoned: "true"})
        self.enter(REQUIRED)

    def _wait_for_jobs(self) -> None:
        settings = self._settings("waitForCompletion")
        selector = str(settings.get("podSelector") or "")
        after = POD_DELETION if self.kind.deletes is not None else DRAIN
        running = [
            pod
            for pod in self.snapshot.of("Pod")
            if pod["spec"].get("nodeName") == self.driver.name
            and selects(selector, labels_of(pod))
            and (pod.get("status") or {}).get("phase") == "Running"
        ]
        if not selector or not running or self._is_late(settings):
            self.enter(after)

    def _delete_pods(self) -> None:
        """Continue with the driver's pod at once; a node is drained only if one of these pods cannot be deleted.

        k8s-operator-libs, pkg/upgrade/pod_manager.go, SchedulePodEviction; seen with GPU Operator v26.3.3, 2026-11-23.
        """
        settings = self._settings("podDeletion")
        gone = leaving(self.snapshot, self.driver.name, settings, chosen=self.kind.deletes)
        self._leave(gone, settings, after=RESTART, otherwise=DRAIN if self._settings("drain").get("enable") else FAILED)

    def _drain(self) -> None:
        settings = self._settings("drain")
        if not settings.get("enable"):
            self.enter(RESTART)
            return
        selector = ",".join(filter(None, [str(settings.get("podSelector") or ""), self.kind.stays]))
        gone = leaving(self.snapshot, self.driver.name, {**settings, "podSelector": selector})
        self._leave(gone, settings, after=RESTART, otherwise=FAILED)

    def _leave(self, gone: Leaving, settings: Mapping[str, object], *, after: str, otherwise: str) -> None:
        """Evict the pods that have to leave, and continue when they have."""
        if not gone.pods:
            self.enter(after)
        elif gone.stuck or self._is_late(settings):
            self.enter(otherwise)
        else:
            self.plan.evictions.extend(gone.to_evict)

    def _restart(self) -> None:
        """Replace the driver's pod; a failed node continues by itself once its driver is the new one and ready."""
        driver, pod = self.driver, self.driver.pod
        if driver.is_outdated:
            if driver.state == RESTART and "deletionTimestamp" not in pod["metadata"]:
                self.plan.deletions.append(pod)
        elif pod_ready(pod):
            self._finish() if self.kind.validator is None or driver.state == FAILED else self.enter(VALIDATION)
        elif driver.state == RESTART and _is_failing(pod):
            self.enter(FAILED)

    def _validate(self) -> None:
        validators = [
            pod
            for pod in self.snapshot.of("Pod", labels=self.kind.validator)
            if pod["spec"].get("nodeName") == self.driver.name
        ]
        if validators and all(pod_ready(pod) for pod in validators):
            self._finish()
        elif self._is_late({"timeoutSeconds": _VALIDATION_SECONDS}):
            self.enter(FAILED)

    def _finish(self) -> None:
        """Uncordon next, unless the node was cordoned before."""
        if annotation(self.driver.node, self.kind.was_cordoned) is None:
            self.enter(UNCORDON)
            return
        self.plan.annotate(self.driver.node, {self.kind.was_cordoned: None})
        self.enter(DONE)

    def _settings(self, name: str) -> Mapping[str, object]:
        settings = self.policy.get(name)
        return settings if isinstance(settings, Mapping) else {}

    def _is_late(self, settings: Mapping[str, object]) -> bool:
        """True if the node has been in its state for longer than timeoutSeconds; 0 means for ever."""
        limit, since = int(str(settings.get("timeoutSeconds") or 0)), annotation(self.driver.node, _SINCE)
        if not limit or since is None:
            return False
        return (datetime.fromisoformat(self.now) - datetime.fromisoformat(since)).total_seconds() > limit


def _is_failing(pod: Document) -> bool:
    status = pod.get("status") or {}
    views = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    return any(not view.get("ready") and view.get("restartCount", 0) > _MOST_RESTARTS for view in views)
