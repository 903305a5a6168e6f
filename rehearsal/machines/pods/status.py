"""A pod's status as a kubelet writes it, from what its containers are doing. Plain documents, no clock, no client."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Document = dict[str, Any]


@dataclass
class ContainerView:
    """One container as its status shows it."""

    name: str
    image: str
    state: Document = field(default_factory=lambda: waiting("PodInitializing"))
    ready: bool = False
    started: bool = False
    restarts: int = 0
    last_state: Document = field(default_factory=dict)
    sidecar: bool = False
    """An init container that runs at the same time as the others (restartPolicy Always): its end does not count."""

    @property
    def exit_code(self) -> int | None:
        """The exit code of a container that has ended and is not to be started again."""
        ended = self.state.get("terminated")
        return None if ended is None else int(ended["exitCode"])

    @property
    def is_running(self) -> bool:
        """True if its process runs."""
        return "running" in self.state

    def document(self) -> Document:
        """The entry of containerStatuses."""
        return {
            "name": self.name,
            "image": self.image,
            "imageID": self.image,
            "state": self.state,
            "lastState": self.last_state,
            "ready": self.ready,
            "started": self.started,
            "restartCount": self.restarts,
        }


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The end of a pod as a whole, whatever its containers did: refused at admission, or past its deadline."""

    reason: str
    message: str


def waiting(reason: str, message: str = "") -> Document:
    """The state of a container that does not run yet."""
    return {"waiting": {"reason": reason, **({"message": message} if message else {})}}


def running(now: str) -> Document:
    """The state of a container since now."""
    return {"running": {"startedAt": now}}


def terminated(exit_code: int, *, started: str, now: str, message: str = "", reason: str = "") -> Document:
    """The state of a container that ended now."""
    return {
        "terminated": {
            "exitCode": exit_code,
            "reason": reason or ("Completed" if exit_code == 0 else "Error"),
            "startedAt": started,
            "finishedAt": now,
            **({"message": message} if message else {}),
        }
    }


def lose(views: Iterable[ContainerView], status: Mapping[str, Any], now: str) -> bool:
    """True if containers ran by the pod's status, though no process runs them now; they show how they ended then."""
    ran = {each["name"]: each for each in status.get("containerStatuses") or [] if "running" in each.get("state", {})}
    for view in views:
        if view.name in ran:
            view.state = terminated(
                137,
                started=now,
                now=now,
                reason="ContainerStatusUnknown",
                message="The container could not be located when the pod was terminated",
            )
            view.last_state, view.restarts = view.state, int(ran[view.name].get("restartCount", 0)) + 1
    return bool(ran)


def views_of(containers: Iterable[Mapping[str, Any]], state: Document) -> list[ContainerView]:
    """Views of containers of a pod's spec, all in one state."""
    return [
        ContainerView(
            name=container["name"],
            image=container["image"],
            state=dict(state),
            sidecar=container.get("restartPolicy") == "Always",
        )
        for container in containers
    ]


@dataclass(frozen=True, kw_only=True)
class PodView:
    """A kubelet's knowledge of a pod. verdict: the reason why the pod as a whole has failed, if it has."""

    init: Sequence[ContainerView]
    containers: Sequence[ContainerView]
    pod_ip: str | None
    host_ip: str | None
    verdict: Verdict | None = None


def pod_status(pod: Mapping[str, Any], view: PodView, *, now: str) -> Document:
    """The status of a pod, complete except for what others own (scheduling condition, quality of service)."""
    old: Mapping[str, Any] = pod.get("status") or {}
    policy = pod["spec"].get("restartPolicy", "Always")
    phase = "Failed" if view.verdict is not None else _phase(view.init, view.containers, policy)
    initialised = all(container.exit_code == 0 or container.started for container in view.init)
    ready = bool(view.containers) and all(container.ready for container in view.containers) and phase == "Running"
    done = phase == "Succeeded"
    unready = [container.name for container in view.containers if not container.ready]
    incomplete = [container.name for container in view.init if container.exit_code != 0 and not container.started]
    not_ready = (
        _condition("PodCompleted")
        if done
        else _condition("ContainersNotReady", f"containers with unready status: [{' '.join(unready)}]")
    )
    conditions = {
        "PodReadyToStartContainers": _holds(view.pod_ip is not None and phase in {"Pending", "Running"}, {}),
        "Initialized": _holds(
            initialised or done,
            _condition("ContainersNotInitialized", f"containers with incomplete status: [{' '.join(incomplete)}]"),
        ),
        "Ready": _holds(ready, not_ready),
        "ContainersReady": _holds(ready, not_ready),
    }
    status: Document = {
        "phase": phase,
        "startTime": old.get("startTime") or now,
        "conditions": _merged(old.get("conditions") or [], conditions, now),
        "initContainerStatuses": [container.document() for container in view.init],
        "containerStatuses": [container.document() for container in view.containers],
    }
    if view.verdict is not None:
        status |= {"reason": view.verdict.reason, "message": view.verdict.message}
    if view.host_ip is not None:
        status |= {"hostIP": view.host_ip, "hostIPs": [{"ip": view.host_ip}]}
    if view.pod_ip is not None:
        status |= {"podIP": view.pod_ip, "podIPs": [{"ip": view.pod_ip}]}
    return status


def is_ready(document: Mapping[str, Any]) -> bool:
    """True if the condition Ready of a pod or a node is True."""
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in (document.get("status") or {}).get("conditions") or []
    )


def is_finished(pod: Mapping[str, Any]) -> bool:
    """True if the pod has reached a phase that it does not leave."""
    return (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}


def _phase(init: Sequence[ContainerView], containers: Sequence[ContainerView], policy: str) -> str:
    if any(view.exit_code not in (None, 0) for view in init if not view.sidecar):
        return "Failed" if policy == "Never" else "Pending"
    codes = [view.exit_code for view in containers]
    if all(code is not None for code in codes):
        succeeded = all(code == 0 for code in codes)
        if policy == "Never" or (policy == "OnFailure" and succeeded):
            return "Succeeded" if succeeded else "Failed"
    has_run = any(view.is_running or view.restarts or view.exit_code is not None for view in containers)
    return "Running" if has_run else "Pending"


def _condition(reason: str, message: str = "") -> Document:
    return {"reason": reason, **({"message": message} if message else {})}


def _holds(holds: bool, otherwise: Document) -> Document:
    return {"status": "True"} if holds else {"status": "False", **otherwise}


def _merged(old: Iterable[Mapping[str, Any]], fresh: Mapping[str, Document], now: str) -> list[Document]:
    """The new conditions, with the time of their last transition, and those of others as they are."""
    before = {condition["type"]: condition for condition in old}
    kept = [dict(condition) for kind, condition in before.items() if kind not in fresh]
    return kept + [
        {
            "type": kind,
            "lastProbeTime": None,
            "lastTransitionTime": before[kind]["lastTransitionTime"]
            if kind in before and before[kind]["status"] == condition["status"]
            else now,
            **condition,
        }
        for kind, condition in fresh.items()
    ]
