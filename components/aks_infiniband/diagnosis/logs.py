"""The order of logs: the most important comes first, because only some of them are read."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.diagnosis.view import Object, container_statuses, is_device_plugin, is_unready, name_of

Rank = Callable[[Object], int | None]
"""The importance of a pod's log: 0 is the most, None is not at all."""


def any_pod(_: Object) -> int:
    """The rank of pods that were chosen before: all matter alike."""
    return 0


def telling_logs(pods: Sequence[Object], rank: Rank = any_pod) -> list[tuple[Object, str]]:
    """Pods whose logs say something, each with its container, the most telling first.

    The logs are sorted by rank. Within a rank, pods that ended badly come first, then pods that are not ready, then
    device plugins, which run and are ready even if they have nothing to offer.
    """
    lines: dict[str, tuple[int, int, Object, str]] = {}
    for pod in pods:
        matters = rank(pod)
        if matters is None:
            continue
        for order, look in enumerate(_LOOKS):
            if container := look(pod):
                lines.setdefault(name_of(pod), (matters, order, pod, container))
    ordered = sorted(lines.values(), key=lambda entry: entry[:2])
    return [(pod, container) for *_, pod, container in ordered]


def _failed_container(pod: Object) -> str | None:
    """The first container of the pod that has ended badly and has left no message that says why."""
    for status in container_statuses(pod):
        ended: Mapping[str, Any] | None = (status.get("state") or {}).get("terminated")
        ended = ended or (status.get("lastState") or {}).get("terminated")
        if ended and ended.get("exitCode", 0) != 0 and not ended.get("message"):
            return str(status["name"])
    return None


def _unready_container(pod: Object) -> str | None:
    return next((str(status["name"]) for status in container_statuses(pod) if is_unready(pod, status)), None)


def _device_plugin(pod: Object) -> str | None:
    return str(pod["spec"]["containers"][0]["name"]) if is_device_plugin(pod) else None


_LOOKS: Final = (_failed_container, _unready_container, _device_plugin)
