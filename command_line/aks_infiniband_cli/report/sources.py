"""The sources of reports: a stack's state, or the ConfigMaps of a cluster."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, cast

from aks_infiniband.handwritten import HandwrittenError, json_document
from aks_infiniband.handwritten.form import formed
from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE, labels
from aks_infiniband.terminal import one_line
from aks_infiniband.validation.reports import (
    SCHEMA_VERSION,
    Report,
    age_of,
    headline,
    kept_reports,
    report_in,
    whole_report,
)

from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.documents import named
from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.report.forms import State
from aks_infiniband_cli.validate.report_file import whole_reports

if TYPE_CHECKING:
    from aks_infiniband.validation.machines import Record
    from lightkube import Client

Reports = dict[str, dict[str, Any]]
"""The report of each pool, by the pool's name."""

_LABELS: Final[dict[str, Any]] = {
    name: value for name, value in labels("validation", "report").items() if name != "app.kubernetes.io/managed-by"
}


class NoReportsError(CommandError):
    """No report exists for a page; the text names the place of the search, and what to do."""


def deployment_in(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """The engine's state of a stack: in what `pulumi stack export` prints, or in the file that a backend in a folder
    keeps. Raises HandwrittenError for what is neither.
    """
    formed(State, state)
    deployment: Mapping[str, Any] = state.get("deployment") or (state.get("checkpoint") or {}).get("latest") or {}
    return deployment


def from_state(text: str | bytes, where: str = "the stack's state") -> Reports:
    """The reports in the output of `pulumi stack export`. Raises NoReportsError.

    `where`: the source of the text.
    """
    try:
        reports = kept_reports(deployment_in(json_document(text)))
    except HandwrittenError as error:
        raise NoReportsError(f"{where}: {error.at_its_place()}: pass what `pulumi stack export` prints") from error
    return _checked({name: dict(report) for name, report in reports.items()}, where)


def from_cluster(kubeconfig: str, *, namespace: str = SYSTEM_NAMESPACE) -> Reports:
    """The reports in the ConfigMaps of the validations' namespace: in other namespaces every user may have written one.

    kubeconfig: as YAML. Raises NoReportsError, and CommandError if the cluster cannot be read.
    """
    from lightkube.resources.core_v1 import ConfigMap  # noqa: PLC0415 a second of start-up that only a cluster is worth

    from aks_infiniband_cli.cluster import NO_ANSWER, connected  # noqa: PLC0415

    try:
        listed = [
            found.to_dict() for found in connected(kubeconfig).list(ConfigMap, namespace=namespace, labels=_LABELS)
        ]
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    reports = [report for report in map(report_in, listed) if report is not None]
    found: Reports = {str(report.get("pool")): dict(report) for report in reports}
    return _checked(found, f"namespace {namespace} of the cluster")


def from_file(text: str | bytes, where: str) -> Reports:
    """The reports in a file of `validate`, or in one of the other forms of whole reports. Raises CommandError.

    `where`: the file's name.
    """
    return _checked({name: dict(report) for name, report in whole_reports(text, where).items()}, where)


def replaced_in(kubeconfig: str, *, namespace: str = SYSTEM_NAMESPACE) -> list[Case]:
    """The machines that are or were replaced, the oldest first. Raises CommandError."""
    from aks_infiniband_cli.cluster import NO_ANSWER, connected  # noqa: PLC0415
    from aks_infiniband_cli.machine_by_machine.replace.history import History  # noqa: PLC0415 as above

    try:
        return History(connected(kubeconfig), namespace).cases()
    except CommandError as error:  # measurements are reported all the same
        note(str(error))
        return []
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error


def _record(client: "Client", namespace: str) -> "Record":
    from aks_infiniband_cli.validate.records import read_record  # noqa: PLC0415 as above

    try:
        return read_record(client, namespace)
    except CommandError as error:
        note(str(error))
        return {}


def machines_in(kubeconfig: str, *, namespace: str = SYSTEM_NAMESPACE) -> list[dict[str, Any]]:
    """The measurements of machines and the decisions on them since the stack's validations. Raises CommandError."""
    from aks_infiniband_cli.cluster import NO_ANSWER, connected  # noqa: PLC0415 as above
    from aks_infiniband_cli.report import machines  # noqa: PLC0415
    from aks_infiniband_cli.validate.nodes import nodes_of  # noqa: PLC0415
    from aks_infiniband_cli.validate.validating import read_cluster  # noqa: PLC0415

    client = connected(kubeconfig)
    try:
        validations, nodes, _ = read_cluster(client, namespace)
        record = _record(client, namespace)
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    return [
        machine
        for pool, validation in validations.items()
        for machine in machines.since(pool, validation.report, nodes_of(nodes, validation), record)
    ]


def told(report: Mapping[str, Any]) -> str:
    """A report's verdict, what it covers, and how old it is, in one line."""
    age = age_of(report, datetime.now(UTC))
    return one_line(f"{headline(cast('Report', report))}{age and f', {age}'}")


def _checked(reports: Reports, where: str) -> Reports:
    if not reports:
        raise NoReportsError(
            f"{where}: no validation has left a report; is validation.mode off? Without a stack, `aks-infiniband "
            "validate` measures with --pool and --out, and this command makes the page of it with --report"
        )
    for name, report in reports.items():
        version = report.get("schema_version")
        if version != SCHEMA_VERSION:
            raise NoReportsError(
                f"{where}: the report of pool {name} has schema version {version!r}, this program reads "
                f"{SCHEMA_VERSION}: use the release that made it, or run `pulumi up` again"
            )
        with named(f"{where}: the report of pool {name}"):
            whole_report(report)
    return dict(sorted(_text_only(reports).items()))


def _text_only(value: Any) -> Any:
    """Others' texts, for a page and for plots: each text is one line, its control characters shown."""
    if isinstance(value, dict):
        return {_text_only(key): _text_only(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_text_only(item) for item in value]
    return one_line(value) if isinstance(value, str) else value
