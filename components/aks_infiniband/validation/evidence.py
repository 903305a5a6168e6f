"""Whether a report is the Job's own: its digest stands in the termination message of a pod that the Job controls."""

from collections.abc import Iterable

from aks_infiniband.diagnosis.view import Object, container_statuses
from aks_infiniband.validation.payload.report import EVIDENCE


def evidence(pods: Iterable[Object], run: str) -> str | None:
    """The line that the pods of a Job, given by its uid, have left of their report.

    None where none has, and where two pods contradict each other: one of them is somebody else's.
    """
    lines = {
        line
        for pod in pods
        if any(owner.get("uid") == run and owner.get("controller") for owner in _owners(pod))
        for status in container_statuses(pod)
        for line in str(((status.get("state") or {}).get("terminated") or {}).get("message") or "").splitlines()[:1]
        if line.startswith(EVIDENCE)
    }
    return lines.pop() if len(lines) == 1 else None


def _owners(pod: Object) -> Iterable[Object]:
    found: Iterable[Object] = pod["metadata"].get("ownerReferences") or []
    return found
