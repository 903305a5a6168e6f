"""One record of each machine, into which every measurement goes and which every command reads.

The record is in a ConfigMap of the validations' namespace, in which no workload has a right. No stack manages it, so an
upgrade of the program leaves it as it is. `pulumi up` and the light check measure in pods, and no pod on a machine may
write what decides of machines. Each leaves a report with measurements of the same form, and `known` and
`with_light_check` put them together with the record.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.validation.kept import MACHINES, MOST_BYTES, document_in
from aks_infiniband.validation.payload.light_check.state import KEY, states_in
from aks_infiniband.validation.payload.look import identity
from aks_infiniband.validation.payload.report import standing
from aks_infiniband.validation.payload.report.document import Report
from aks_infiniband.validation.payload.report.standing import CORDONED, FELL_SHORT, LET_IN, LIGHT_CHECK
from aks_infiniband.validation.payload.talk.config_maps import packed, texts_of

__all__ = ["ACCEPTANCE", "CORDONED", "FELL_SHORT", "LET_IN", "LIGHT_CHECK"]

_MEASUREMENTS, _DECISIONS = 4, 12
"""The most that is kept of each machine: the newest."""
_MACHINES: Final = 1000
ACCEPTANCE: Final = "pulumi up"
"""The author of measurements that a stack has left."""

_Text = Annotated[str, Field(max_length=2000)]
_Short = Literal["warn", "fail", "not measured"]
_Verdict = Literal["pass", "warn", "fail", "not measured"]


class Identity(Form):
    """The identity of a node's machine: a redeployed one keeps its name, and a restarted one its VM."""

    vm: _Text = ""
    """The VM's unique ID, as its firmware reports it to the kubelet."""
    boot: _Text = ""
    image: _Text = ""
    kernel: _Text = ""
    driver: _Text = ""
    """Driver of its GPUs; empty if nothing reports it."""


class Problem(Form):
    """A check that a machine did not pass."""

    check: _Text
    verdict: _Short
    device: _Text | None = None
    expected: _Text
    measured: _Text
    cause: _Text | None = None

    def told(self) -> str:
        """In a line."""
        return standing.told(self.model_dump())


class Value(Form):
    """A figure of one HCA, with the median of the same HCA on the nodes that were measured with it."""

    figure: _Text
    device: _Text
    value: float
    others: float | None
    other_nodes: int


class Measurement(Form):
    """The content of one measurement of one machine."""

    at: _Text
    """ISO 8601."""
    by: _Text
    """The command that measured, or the light check."""
    pool: _Text = ""
    verdict: _Verdict
    identity: Identity = Field(default_factory=Identity)
    problems: list[Problem] = Field(default_factory=list)
    sound: dict[str, _Text] = Field(default_factory=dict)
    """When each kind of check was made last that the machine did not fail."""
    values: list[Value] = Field(default_factory=list)

    @property
    def failed(self) -> list[Problem]:
        """The checks that failed."""
        return [problem for problem in self.problems if problem.verdict == "fail"]


class Decision(Form):
    """A decision on a machine, such as cordoned."""

    at: _Text
    by: _Text
    what: _Text
    why: _Text


class Machine(Form):
    """The knowledge of a node's machine, the newest last."""

    measurements: list[Measurement] = Field(default_factory=list)
    decisions: list[Decision] = Field(default_factory=list)

    @property
    def touched(self) -> str:
        """When something was written last."""
        measured, decided = [one.at for one in self.measurements], [one.at for one in self.decisions]
        return max([*measured, *decided], default="")


class _Machines(Form):
    machines: dict[str, Machine]


Record = Mapping[str, Machine]
"""By node."""


def record_in(config_map: Mapping[str, Any]) -> dict[str, Machine]:
    """The record that a ConfigMap holds; nothing if it holds none yet.

    Raises HandwrittenError, as `document_in` does.
    """
    document = document_in(MACHINES, config_map)
    return {} if document is None else dict(formed(_Machines, document).machines)


def contents(record: Record) -> dict[str, Any]:
    """The data of the record's ConfigMap: the machines that were touched last, as many as it holds."""
    kept = dict(sorted(record.items(), key=lambda item: item[1].touched)[-_MACHINES:])
    while True:
        machines = {node: machine.model_dump() for node, machine in sorted(kept.items())}
        document = {"schema_version": MACHINES.version, "machines": machines}
        binary = packed({MACHINES.key: json.dumps(document, separators=(",", ":"))})
        if len(binary["binaryData"][MACHINES.key] or "") <= MOST_BYTES or len(kept) == 1:
            return binary
        for node in list(kept)[: max(1, len(kept) // 4)]:
            del kept[node]


def with_measurements(record: Record, measured: Mapping[str, Measurement]) -> dict[str, Machine]:
    """The record with one more measurement of some nodes."""
    machines = dict(record)
    for node, measurement in measured.items():
        machine = machines.get(node, Machine())
        machines[node] = machine.model_copy(update={"measurements": _newest([*machine.measurements, measurement])})
    return machines


def _newest(measurements: Sequence[Measurement]) -> list[Measurement]:
    """The newest, and before them those that stand against the machine."""
    against = [each.measurement for each in standing.standing([one.model_dump() for one in measurements], "")]
    kept = list(measurements)
    while len(kept) > _MEASUREMENTS:
        kept.remove(next((one for one in kept[:-1] if one.model_dump() not in against), kept[0]))
    return kept


def with_decision(record: Record, node: str, decision: Decision) -> dict[str, Machine]:
    """The record with one more decision of a node."""
    machine = record.get(node, Machine())
    return {**record, node: machine.model_copy(update={"decisions": [*machine.decisions, decision][-_DECISIONS:]})}


def identity_of(node: Mapping[str, Any]) -> Identity:
    """The identity of a node's machine now."""
    return Identity(**identity.identity_of(node))


def measurements_in(report: Report, by: str, nodes: Iterable[Mapping[str, Any]] = ()) -> dict[str, Measurement]:
    """The content of a report for each node that it looked at.

    by: the command that measured. nodes: as they were then.
    """
    known = {str(node["metadata"]["name"]): identity.identity_of(node) for node in nodes}
    known = {name: identity.identity_in(facts) for name, facts in report["nodes"].items()} | known
    run: standing.Run = {"at": report["finished"], "by": by, "pool": report["pool"]}
    return {
        name: Measurement.model_validate(
            standing.measurement_of(
                name,
                run,
                report["checks"],
                report["rdma"],
                looked_at=name in report["nodes"],
                identity=known.get(name, identity.UNKNOWN),
            )
        )
        for name in sorted({*report["nodes"], *(check["node"] for check in report["checks"] if check["node"])})
    }


def with_light_check(record: Record, config_map: Mapping[str, Any]) -> dict[str, Machine]:
    """The record with the findings that the light check of a pool has left, as far as they can be read."""
    machines = dict(record)
    for node, state in states_in(texts_of(config_map).get(KEY))[0].items():
        try:
            measured = Measurement.model_validate(state.get("measurement"))
        except ValidationError:  # of an older release, or edited by hand
            continue
        known = machines.get(node, Machine())
        measurements = sorted([*known.measurements, measured], key=lambda one: one.at)
        machines[node] = known.model_copy(update={"measurements": measurements})
    return machines


def known(node: Mapping[str, Any], record: Record, report: Report | None) -> Machine:
    """All that is known of a node's machine, with what the stack's last validation has left of it."""
    name = str(node["metadata"]["name"])
    machine = record.get(name, Machine())
    accepted = measurements_in(report, ACCEPTANCE).get(name) if report else None
    measurements = sorted([*([accepted] if accepted else []), *machine.measurements], key=lambda one: one.at)
    return machine.model_copy(update={"measurements": measurements})


def doubt(measurement: Measurement, node: Mapping[str, Any]) -> str:
    """The reason why a measurement is not of the machine as it is now, in words; empty if it is."""
    then, now = measurement.identity, identity_of(node)
    born = str(node["metadata"].get("creationTimestamp") or "")
    if then.vm and now.vm and then.vm != now.vm:
        return "of a machine that is gone: the node has another one since"
    if not then.vm and born and _moment(born) > _moment(measurement.at):
        return f"older than the node, which joined at {born}"
    if then.boot and now.boot and then.boot != now.boot:
        return "of an earlier boot: the machine was started again since"
    return ""


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def teller_of(condition: Mapping[str, Any]) -> str:
    """The program that has set the light check's condition of a node."""
    return "validate --cordon" if condition.get("reason") == FELL_SHORT else LIGHT_CHECK


def current(known: Machine, node: Mapping[str, Any]) -> Measurement | None:
    """The measurement that counts of the machine as it is now: the newest that says something of it. But a check that
    failed stands until the same check was made again and did not fail.
    """
    told = [one for one in known.measurements if one.verdict != "not measured" and not doubt(one, node)]
    against = {each.measurement["at"] for each in standing.standing([one.model_dump() for one in told], "")}
    return next((one for one in reversed(told) if not against or one.at in against), None)


def standing_against(known: Machine, node: Mapping[str, Any]) -> list[str]:
    """The checks that a node's machine failed and did not pass since, in a line each."""
    measurements = [one.model_dump() for one in known.measurements]
    return [each.told() for each in standing.standing(measurements, identity_of(node).vm)]


def told(measurement: Measurement) -> str:
    """A measurement in a line."""
    short = measurement.failed or measurement.problems
    what = "; ".join(problem.told() for problem in short[:3]) or "nothing falls short"
    return f"{measurement.by} on {measurement.at}: {measurement.verdict}: {what}"
