"""The proof of a validation's report in its pods, and the reason why the wait for its Job failed: the report, the Job,
its pods.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from aks_infiniband.diagnosis.pods import find_job, job_findings
from aks_infiniband.diagnosis.view import (
    Finding,
    Object,
    View,
    Wait,
    container_statuses,
    in_namespace,
    name_of,
    owners_of,
)
from aks_infiniband.validation.payload.report.document import Report, headline
from aks_infiniband.validation.payload.report.kept import EVIDENCE, REPORT_KEY, evidence_of, report_in
from aks_infiniband.validation.payload.talk.termination import EXIT_VERDICT
from aks_infiniband.validation.table import passed, table

_MOST_ROWS: Final = 20


def evidence(pods: Iterable[Object], run: str) -> str | None:
    """The line that the pods of a Job, given by its uid, have left of their report.

    None if no pod has left one. None too if two pods contradict each other: then one of them belongs to another
    program.
    """
    lines = {
        line
        for pod in pods
        if any(owner.get("uid") == run and owner.get("controller") for owner in owners_of(pod))
        for status in container_statuses(pod)
        for line in str(((status.get("state") or {}).get("terminated") or {}).get("message") or "").splitlines()[:1]
        if line.startswith(EVIDENCE)
    }
    return lines.pop() if len(lines) == 1 else None


def explain(wait: Wait, view: View) -> list[Finding]:
    """The findings in the report of this Job, its end, and its pods.

    An earlier Job's report is left out, and so is a report with another digest than the pods have left.
    """
    job = find_job(view, wait)
    uid = str(job["metadata"].get("uid")) if job else ""
    found = _report_of_run(in_namespace(view.config_maps, wait.namespace), uid)
    left = evidence(view.pods, uid)
    if found is None or (left and left != evidence_of(found[1])):
        return job_findings(wait, view)
    # The report contains the words of a pod with a verdict.
    return [*_report_findings(*found), *job_findings(wait, view, leave_out=_gave_verdict)]


def _report_of_run(config_maps: Sequence[Object], run: str) -> tuple[Object, Report] | None:
    """The ConfigMap with the report of a Job, by the Job's uid, and that report."""
    for config_map in config_maps:
        report = report_in(config_map)
        if report is not None and report.get("run") == run:
            return config_map, report
    return None


def _report_findings(config_map: Object, report: Report) -> list[Finding]:
    """The table of what did not go well, and the next commands."""
    name, namespace = config_map["metadata"]["name"], config_map["metadata"]["namespace"]
    key = REPORT_KEY.replace(".", "\\.")
    return [
        Finding(
            what="\n".join(
                [
                    f"validation of {headline(report)}",
                    f"{passed(report['checks'])}; all are in ConfigMap {name_of(config_map)}, key {REPORT_KEY}",
                    *table(report["checks"], most_rows=_MOST_ROWS),
                ]
            ),
            command=f"kubectl -n {namespace} get configmap {name} -o jsonpath='{{.binaryData.{key}}}' "
            "| base64 -d | gunzip",
        ),
        Finding(
            what="the whole report, as a page with plots, is made from the cluster's kubeconfig",
            command="aks-infiniband report --out report",
        ),
        Finding(
            what="when it is fixed, run `pulumi up` again: the next update measures again",
            command="pulumi up",
        ),
    ]


def _gave_verdict(pod: Object) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses") or []
    ended = [(status.get("state") or {}).get("terminated") or {} for status in statuses]
    return any(state.get("exitCode") == EXIT_VERDICT for state in ended)
