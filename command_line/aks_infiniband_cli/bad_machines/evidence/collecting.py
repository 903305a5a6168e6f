"""Reads the cluster and the machine."""

from datetime import UTC, datetime
from typing import Any

from aks_infiniband.validation.machines import Measurement, Record, known, measurements_in, with_measurements
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from lightkube import Client
from lightkube.resources.core_v1 import Event

from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.reading_job import ask
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from aks_infiniband_cli.cluster import NO_ANSWER, connected, operators_in
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Deployed, Object
from aks_infiniband_cli.validate.nodes import name_of, node_called, validation_of
from aks_infiniband_cli.validate.records import read_record
from aks_infiniband_cli.validate.report_file import whole_reports
from aks_infiniband_cli.validate.run import Say
from aks_infiniband_cli.validate.unmanaged.plan import Plan, plan_to_read
from aks_infiniband_cli.validate.validating import read_cluster


def collect(
    kubeconfig: str,
    name: str,
    namespace: str,
    *,
    measured: tuple[bytes, str] | None = None,
    say: Say = lambda _: None,
) -> dict[str, Any]:
    """The evidence of a node, with the ticket's text and the report to Azure. A machine that cannot be read is reported
    so, in the evidence.

    Raises CommandError if the node does not exist, or the cluster does not answer. measured: the content of a file with
    a report, and its name. say: takes the progress.
    """
    client = connected(kubeconfig)
    validations, nodes, pods = read_cluster(client, namespace)
    node = node_called(nodes, name)
    told = _told(node, *measured) if measured else {}
    try:
        fields: dict[str, Any] = {"involvedObject.kind": "Node", "involvedObject.name": name}
        events = [event.to_dict() for event in client.list(Event, namespace=EVENTS_OF_NODES, fields=fields)]
        operators = operators_in(client)
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    stacks = validation_of(validations, node)
    plan = Plan() if stacks else plan_to_read(node)
    validation = stacks or plan.validations[name]
    plan.prepare(client, say, cordon=False)
    with plan.there(client, say, needed=stacks is None):
        taken, machine = datetime.now(UTC), _machine(client, name, validation)
        dcgm = diagnosed(client, node, pods, validation, operators)
    record, unread = _record(client, namespace)
    machine["not_read"] = [*(machine.get("not_read") or []), *unread]
    known_of_it = known(node, with_measurements(record, told), validation.report)
    case = case_of(node, machine, events, known_of_it, taken, dcgm=dcgm)
    return {**case, "ticket": ticket(case), "health_report": health_report(case)}


def _told(node: Object, content: bytes, file: str) -> dict[str, Measurement]:
    """The measurements of a node in a file. Raises CommandError if there are none."""
    name, reports = name_of(node), whole_reports(content, file)
    for report in reports.values():
        measurements = measurements_in(report, f"validate ({file})")
        if name in measurements:
            return {name: measurements[name]}
    measured = sorted({node for report in reports.values() for node in report["nodes"]})
    raise CommandError(f"{file} says nothing of node {name}; it has {', '.join(measured) or 'no node'}")


def _record(client: Client, namespace: str) -> tuple[Record, list[str]]:
    """The record of the machines, and the reason why it could not be read."""
    try:
        return read_record(client, namespace), []
    except (CommandError, *NO_ANSWER) as error:  # the rest is worth keeping
        note(str(error))
        return {}, [f"the record of the machines: {error}"]


def _machine(client: Client, name: str, validation: Deployed) -> dict[str, Any]:
    try:
        return ask(client, name, validation)
    except (CommandError, *NO_ANSWER) as error:  # the rest is worth keeping
        note(f"the machine of node {name} could not be read: {error}")
        return {"not_read": [f"the machine itself: {error}"]}
