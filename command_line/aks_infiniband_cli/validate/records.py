"""Writes the measurements of machines and the decisions on them to the place from which every command reads: the
record, the nodes' conditions.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError
from aks_infiniband.resources.metadata import labels
from aks_infiniband.validation import machines
from aks_infiniband.validation.kept import MACHINES, OtherReleaseError, where
from aks_infiniband.validation.reports import CONDITION, Report
from lightkube import Client
from lightkube.resources.core_v1 import ConfigMap, Node
from lightkube.types import PatchType

from aks_infiniband_cli.cluster import NO_ANSWER
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.keeping import Keeping

_REASONS: Final = {True: "MeasuredSound", None: "NotMeasuredSince"}
_LIGHT_CHECKS: Final = labels("light-check", "check")
_MESSAGE_BYTES: Final = 1024
"""Length of a condition's message, as the light check has it."""


def read_record(client: Client, namespace: str) -> machines.Record:
    """The record of the machines, with the findings of the light check.

    Raises CommandError for a record that cannot be read, and NO_ANSWER.
    """
    try:
        record: machines.Record = machines.record_in(Keeping(client, namespace, MACHINES).read())
    except HandwrittenError as error:
        place = f"{where(MACHINES)} of namespace {namespace}"
        raise CommandError(f"{place}, cannot be read: {error.at_its_place()}") from error
    for config_map in client.list(ConfigMap, namespace=namespace, labels=dict(_LIGHT_CHECKS)):
        record = machines.with_light_check(record, config_map.to_dict())
    return record


def keep_measured(client: Client, namespace: str, report: Report, nodes: Sequence[Object], by: str) -> None:
    """Write down what a measurement says of nodes. The measurement is worth more: a record that cannot be written is a
    note.

    nodes: that were measured. by: the command.
    """
    measured = machines.measurements_in(report, by, nodes)
    record = _keep(client, namespace, lambda record: machines.with_measurements(record, measured)) or {}
    for node in nodes:
        known = record.get(str(node["metadata"]["name"]), machines.Machine())
        if known.measurements and not machines.standing_against(known, node):
            set_condition(client, node, healthy=True, why=machines.told(known.measurements[-1]))


def keep_decision(client: Client, namespace: str, node: str, what: str, *, by: str, why: str) -> None:
    """Write down what was decided of a node."""
    decision = machines.Decision(at=_now(), by=by, what=what, why=why[:2000])
    _keep(client, namespace, lambda record: machines.with_decision(record, node, decision))


def set_condition(client: Client, node: Object, *, healthy: bool | None, why: str) -> None:
    """Have the light check's condition of a node say what a command has found. One that cannot be set is a note.

    healthy: None is not known. None and True only take back what this has said: all else is the light check's own.
    """
    conditions: Sequence[Mapping[str, Any]] = (node.get("status") or {}).get("conditions") or []
    before = next((each for each in conditions if each["type"] == CONDITION), {})
    if healthy is not False and before.get("reason") not in (machines.FELL_SHORT, _REASONS[None]):
        return
    status = "Unknown" if healthy is None else str(healthy)
    moment = _now().replace("+00:00", "Z")
    said = {
        "type": CONDITION,
        "status": status,
        "reason": _REASONS.get(healthy, machines.FELL_SHORT),
        "message": why.encode()[:_MESSAGE_BYTES].decode(errors="ignore"),
        "lastHeartbeatTime": moment,
        "lastTransitionTime": before.get("lastTransitionTime") if before.get("status") == status else moment,
    }
    name, patch = str(node["metadata"]["name"]), {"status": {"conditions": [said]}}
    try:
        client.patch(Node.Status, name, patch, patch_type=PatchType.STRATEGIC)
    except NO_ANSWER as error:
        note(f"the condition {CONDITION} of node {name} could not be set: {error}")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _keep(
    client: Client, namespace: str, change: Callable[[machines.Record], machines.Record]
) -> machines.Record | None:
    """The record as it was written; None if it could not be."""
    keeping = Keeping(client, namespace, MACHINES)
    try:
        while (record := _written(keeping, change)) is None:
            pass
    except (HandwrittenError, *NO_ANSWER) as error:
        note(f"the record of the machines could not be written, so other commands do not know of it: {error}")
        return None
    return record


def _written(keeping: Keeping, change: Callable[[machines.Record], machines.Record]) -> machines.Record | None:
    """The record as it was written; None if another command wrote it meanwhile."""
    kept = keeping.read()
    try:
        record = machines.record_in(kept)
    except OtherReleaseError:
        raise
    except HandwrittenError as error:
        keeping.set_aside(kept, error.at_its_place())
        record = {}
    changed = change(record)
    return changed if keeping.write(kept, machines.contents(changed)) else None
