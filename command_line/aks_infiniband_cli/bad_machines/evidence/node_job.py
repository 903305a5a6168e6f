"""A Job whose pod runs once, on one node, and what it said; both are gone afterwards."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from aks_infiniband.diagnosis.view import condition
from lightkube import Client
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import Pod
from lightkube.types import CascadeType

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import note
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.run import stopped_by_signals, until

_LEFT_SECONDS: Final = 600
"""Seconds after which the Job is deleted by itself, if this command was killed."""
_MOST_CHARACTERS: Final = 4_000_000
"""Length of a log. DCGM's longest document takes less than a tenth (assumed of eight GPUs)."""
_OVER: Final = ("Complete", "Failed")
_PROGRAMS: Final = ("Completed", "Error")
"""Reasons for the end of a container that ran."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """The result of a Job. why: the Job's or the pod's own words, if it did not end well."""

    said: str
    why: str = ""


def job_on(
    node: str,
    validation: Deployed,
    *,
    name: str,
    labels: Mapping[str, str],
    pod: Mapping[str, Any],
    seconds: int,
) -> dict[str, Any]:
    """The Job, in the namespace of the pool's validation. Its pod gets no token of the API server, and is not
    scheduled.

    pod: of its spec, what is its own. seconds: how long it may take, with the pull of its image. The Job's own
    controller ends it: a kubelet may be gone.
    """
    secrets = validation.template["spec"].get("imagePullSecrets")
    spec = {
        "nodeName": node,
        "automountServiceAccountToken": False,
        "restartPolicy": "Never",
        "tolerations": [{"operator": "Exists"}],
        **({"imagePullSecrets": secrets} if secrets else {}),
        **pod,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": validation.namespace, "labels": dict(labels)},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": seconds,
            "ttlSecondsAfterFinished": _LEFT_SECONDS,
            "template": {"metadata": {"labels": dict(labels)}, "spec": spec},
        },
    }


def run_job(client: Client, document: Mapping[str, Any]) -> Ended:
    """Run a Job to its end, and take it away, also if a pipeline ends this command. Raises NO_ANSWER."""
    name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
    seen: list[Object] = []

    def ended_job() -> Object | None:
        job = client.get(Job, name, namespace=namespace).to_dict()
        pods = client.list(Pod, namespace=namespace, labels={"batch.kubernetes.io/job-name": name})
        seen[:] = [pod.to_dict() for pod in pods] or seen  # they are deleted when the Job's time is up
        return job if any(condition(job, kind).get("status") == "True" for kind in _OVER) else None

    with stopped_by_signals():
        client.create(cast("Job", Job.from_dict(dict(document))))
        try:
            ended = until(ended_job)
            words = [condition(ended, "Failed").get("message"), *(word for pod in seen for word in _complaints(pod))]
            try:
                said = _beginning(line for pod in seen for line in client.log(name_of(pod), namespace=namespace))
            except NO_ANSWER as error:  # so it is for a pod that was not admitted, or is gone
                said, words = "", [*words, str(error)]
            return Ended(said=said, why="; ".join(word for word in words if word))
        finally:
            _remove(client, name, namespace)


def _beginning(lines: Iterable[str]) -> str:
    """The lines of a log, as many as there is room for."""
    kept, room = [], _MOST_CHARACTERS
    for line in lines:
        kept.append(line)
        room -= len(line)
        if room < 0:
            break
    return "".join(kept)


def _complaints(pod: Object) -> Iterator[str]:
    """Why a pod was not admitted, or its container did not run: what a program says stands in its log."""
    status = pod.get("status") or {}
    yield status.get("message") or ""
    for container in status.get("containerStatuses") or []:
        state = container.get("state") or {}
        yield (state.get("waiting") or {}).get("message") or ""
        ended = state.get("terminated") or {}
        if ended.get("reason") not in _PROGRAMS:
            yield ended.get("message") or ""


def _remove(client: Client, name: str, namespace: str) -> None:
    try:
        client.delete(Job, name, namespace=namespace, cascade=CascadeType.BACKGROUND)
    except NO_ANSWER as error:
        note(f"Job {name} could not be removed ({error}): kubectl --namespace {namespace} delete job {name}")
