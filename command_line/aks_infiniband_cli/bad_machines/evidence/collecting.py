"""Reads the cluster and the machine, and writes what was found into one file."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aks_infiniband.terminal import printable_json
from aks_infiniband.validation.machines import Record, known
from aks_infiniband.validation.reports import EVENTS_OF_NODES
from lightkube import Client
from lightkube.resources.core_v1 import Event

from aks_infiniband_cli.bad_machines.evidence.case import case_of, health_report
from aks_infiniband_cli.bad_machines.evidence.dcgm.diagnose import diagnosed
from aks_infiniband_cli.bad_machines.evidence.reading_job import ask
from aks_infiniband_cli.bad_machines.evidence.ticket import ticket
from aks_infiniband_cli.cluster import NO_ANSWER, connected, operators_in
from aks_infiniband_cli.console import SCHEMA_VERSION, CommandError, note
from aks_infiniband_cli.validate.deployed import Deployed
from aks_infiniband_cli.validate.nodes import place_of
from aks_infiniband_cli.validate.records import read_record
from aks_infiniband_cli.validate.validating import read_cluster


def collect(kubeconfig: str, name: str, namespace: str) -> dict[str, Any]:
    """The evidence of a node, with the ticket's text and the report to Azure. Raises CommandError where there is no
    such node in a pool, or the cluster does not answer. A machine that cannot be asked is told so, in the evidence.
    """
    client = connected(kubeconfig)
    validations, nodes, pods = read_cluster(client, namespace)
    _, validation, node = place_of(validations, nodes, name)
    try:
        fields: dict[str, Any] = {"involvedObject.kind": "Node", "involvedObject.name": name}
        events = [event.to_dict() for event in client.list(Event, namespace=EVENTS_OF_NODES, fields=fields)]
        operators = operators_in(client)
    except NO_ANSWER as error:
        raise CommandError(f"the cluster cannot be read: {error}") from error
    taken, machine = datetime.now(UTC), dict(_machine(client, name, validation))
    record, unread = _record(client, namespace)
    machine["not_read"] = [*(machine.get("not_read") or []), *unread]
    dcgm = diagnosed(client, node, pods, validation, operators)
    found = case_of(node, machine, events, known(node, record, validation.report), taken, dcgm=dcgm)
    return {**found, "ticket": ticket(found), "health_report": health_report(found)}


def _record(client: Client, namespace: str) -> tuple[Record, list[str]]:
    """What is known of the machines, and why it could not be read."""
    try:
        return read_record(client, namespace), []
    except (CommandError, *NO_ANSWER) as error:  # the rest is worth keeping
        note(str(error))
        return {}, [f"the record of the machines: {error}"]


def _machine(client: Client, name: str, validation: Deployed) -> Mapping[str, Any]:
    try:
        return ask(client, name, validation)
    except (CommandError, *NO_ANSWER) as error:  # the rest is worth keeping
        note(f"node {name} could not be asked itself: {error}")
        return {"not_read": [f"the machine itself: {error}"]}


def write(found: Mapping[str, Any], file: Path) -> None:
    """Write the evidence for its owner's eyes. Raises FileExistsError: evidence is not overwritten."""
    document = json.dumps({"schema_version": SCHEMA_VERSION, **found}, indent=2, ensure_ascii=False)
    file.touch(mode=0o600, exist_ok=False)
    file.write_text(printable_json(document) + "\n", encoding="utf-8")
