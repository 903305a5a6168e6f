"""Runs measurements in a cluster, waits for what they say, and takes away what they had there."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, TypeVar, cast

from aks_infiniband.diagnosis.collect import collect
from aks_infiniband.diagnosis.view import Finding, Wait, condition
from aks_infiniband.validation.explanation import evidence, explain
from aks_infiniband.validation.reports import Report, evidence_of, report_in
from lightkube import ApiError, Client, codecs
from lightkube.resources.batch_v1 import Job
from lightkube.resources.core_v1 import ConfigMap, Pod
from lightkube.types import CascadeType

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.documents import Run, belongings, job
from aks_infiniband_cli.validate.records import keep_measured

_POLL_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 120.0
"""Seconds for which the API server may be silent before the wait is given up."""
_GONE_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 20.0

Say = Callable[[str], None]
_Seen = TypeVar("_Seen")


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """The result of a run: its report, or why there is none."""

    report: Report | None
    why: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """The cluster of the measurement."""

    client: Client
    kubeconfig: str


def measure(cluster: Cluster, runs: Sequence[Run], say: Say) -> dict[str, Measured]:
    """Measure all pools at the same time. Returns the result by pool.

    The findings go into the record of the machines. The objects of the runs in the cluster are deleted afterwards,
    whatever happens meanwhile. Raises CommandError if the API server refuses, or does not answer for two minutes, and
    KeyboardInterrupt.
    """
    try:
        with stopped_by_signals():
            for run in runs:
                _start(cluster.client, run)
            ended = await_runs(cluster.client, runs, say)
            results = {run.validation.pool: _result(cluster, run, ended[run.name]) for run in runs}
            for run in runs:
                report = results[run.validation.pool].report
                if report and run.validation.lasting:  # the record is kept in the namespace of a stack's validations
                    keep_measured(cluster.client, run.validation.namespace, report, run.nodes, run.by)
            return results
    except NO_ANSWER as error:
        raise CommandError(f"a request to the cluster failed: {error}") from error
    finally:
        say("Removing what the measurement had in the cluster")
        for run in runs:
            _remove(cluster.client, run)


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """A run that a pipeline ends is cleared away like one that a person ends."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _start(client: Client, run: Run) -> None:
    made = client.create(cast("Job", Job.from_dict(job(run))))
    for document in belongings(run, str(made.metadata and made.metadata.uid)):
        client.create(codecs.from_dict(document))
    client.patch(Job, run.name, {"spec": {"parallelism": len(run.nodes)}}, namespace=run.validation.namespace)


def await_runs(client: Client, runs: Sequence[Run], say: Say) -> dict[str, Object]:
    """The Jobs by name, when all have ended."""
    ended: dict[str, Object] = {}

    def all_ended() -> dict[str, Object] | None:
        for run in runs:
            if run.name not in ended:
                job = client.get(Job, run.name, namespace=run.validation.namespace).to_dict()
                say(_progress(run, job))
                if _is_over(job):
                    ended[run.name] = job
        return ended if len(ended) == len(runs) else None

    return until(all_ended)


def until(read: Callable[[], _Seen | None], *, clock: Callable[[], float] = time.monotonic) -> _Seen:
    """The first value that a read of the cluster gives.

    Raises NO_ANSWER if the API server refuses, or does not answer for two minutes. The two minutes begin with the first
    read that fails: before it this computer may have slept.
    """
    silent_since = None
    while True:
        try:
            seen = read()
            if seen is not None:
                return seen
            silent_since = None
        except NO_ANSWER as error:
            silent_since = clock() if silent_since is None else silent_since
            if _is_refusal(error) or clock() - silent_since > _SILENT_SECONDS:
                raise
        time.sleep(_POLL_SECONDS)


def _is_over(job: Object) -> bool:
    return any(condition(job, kind).get("status") == "True" for kind in ("Complete", "Failed"))


def _is_refusal(error: Exception) -> bool:
    return isinstance(error, ApiError) and (error.status.code or 0) < HTTPStatus.INTERNAL_SERVER_ERROR


def _progress(run: Run, job: Object) -> str:
    status, wanted = job.get("status") or {}, len(run.nodes)
    working = (status.get("ready") or 0) + (status.get("succeeded") or 0)
    doing = "measuring" if working == wanted else f"{working} of {wanted} pods run, the others start"
    return f"Pool {run.validation.pool}: {doing}"


def _result(cluster: Cluster, run: Run, ended: Object) -> Measured:
    """The report, if it is the Job's own; else the state of the Job and its pods."""
    uid, namespace = str(ended["metadata"]["uid"]), run.validation.namespace
    report = report_in(cluster.client.get(ConfigMap, run.report, namespace=namespace).to_dict())
    ours: Any = {"batch.kubernetes.io/controller-uid": uid}
    pods = [pod.to_dict() for pod in cluster.client.list(Pod, namespace=namespace, labels=ours)]
    if report is not None and report["run"] == uid and evidence_of(report) == evidence(pods, uid):
        return Measured(report=report)
    view = collect(cluster.kubeconfig, [namespace], limit_seconds=_LOOK_SECONDS)
    findings = explain(Wait(waiting_for="job", name=run.name, namespace=namespace), view)
    return Measured(report=None, why=list(map(_in_words, findings)) or ["no pod has left a report"])


def _in_words(finding: Finding) -> str:
    return f"{finding.what}: {finding.cause}" if finding.cause else finding.what


def _remove(client: Client, run: Run) -> None:
    """Delete the Job, and with it all that it owns; wait until it is gone."""
    where: Mapping[str, Any] = {"namespace": run.validation.namespace}
    deadline = time.monotonic() + _GONE_SECONDS
    try:
        client.delete(Job, run.name, cascade=CascadeType.FOREGROUND, **where)
        while time.monotonic() < deadline:
            client.get(Job, run.name, **where)
            time.sleep(_POLL_SECONDS / 4)
    except NO_ANSWER as error:
        if isinstance(error, ApiError) and error.status.code == HTTPStatus.NOT_FOUND:
            return
        left = f"kubectl --namespace {run.validation.namespace} delete job {run.name}"
        note(f"Job {run.name} could not be removed ({error}): {left}")
