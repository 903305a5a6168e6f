"""What is known of each machine: one record, into which every measurement goes and from which every command tells.

It lies in a ConfigMap of the validations' namespace, in which no workload has a right. No stack manages it, so an
upgrade of the program leaves it as it is. `pulumi up` measures before anybody could write it; its report is a source
beside it, and `known` puts both together.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field

from aks_infiniband.facts.node_images import VERSION_LABEL
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.validation.kept import MACHINES, MOST_BYTES, document_in
from aks_infiniband.validation.payload.report.document import Report
from aks_infiniband.validation.payload.say.lines import as_text, measured_text
from aks_infiniband.validation.payload.talk.config_maps import packed

_MEASUREMENTS, _DECISIONS, _PROBLEMS, _FIGURES = 4, 6, 12, 32
"""The most that is kept: of each machine, the newest; of a measurement, the worst."""
_MACHINES: Final = 1000
FELL_SHORT: Final = "FellShort"
"""Reason of the light check's condition on a node that a person's measurement has found to fall short."""
ACCEPTANCE: Final = "pulumi up"
"""Who measured what a stack has left."""

_Text = Annotated[str, Field(max_length=2000)]
_Short = Literal["warn", "fail", "not measured"]
_Verdict = Literal["pass", "warn", "fail", "not measured"]


class Identity(Form):
    """Which machine a node was: a redeployed one keeps its name, and a restarted one its VM."""

    vm: _Text = ""
    """The VM's unique ID, as its firmware tells the kubelet."""
    boot: _Text = ""
    image: _Text = ""
    kernel: _Text = ""
    driver: _Text = ""
    """Of its GPUs; empty where nothing tells it."""


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
        at = f" ({self.device})" if self.device else ""
        return f"{self.check}{at}: {self.measured}, expected {self.expected}"


class Value(Form):
    """A figure of one HCA, beside the median of the same HCA on the nodes that were measured with it."""

    figure: _Text
    device: _Text
    value: float
    others: float | None
    other_nodes: int


class Measurement(Form):
    """What one measurement says of one machine."""

    at: _Text
    """ISO 8601."""
    by: _Text
    """The command that measured."""
    verdict: _Verdict
    identity: Identity = Field(default_factory=Identity)
    problems: list[Problem] = Field(default_factory=list)
    values: list[Value] = Field(default_factory=list)

    @property
    def failed(self) -> list[Problem]:
        """The checks that failed."""
        return [problem for problem in self.problems if problem.verdict == "fail"]


class Decision(Form):
    """What was decided of a machine: cordoned, let in."""

    at: _Text
    by: _Text
    what: _Text
    why: _Text


class Machine(Form):
    """What is known of a node's machine, the newest last."""

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
    """The record that a ConfigMap holds; nothing where it holds none yet.

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
        found = packed({MACHINES.key: json.dumps(document, separators=(",", ":"))})
        if len(found["binaryData"][MACHINES.key] or "") <= MOST_BYTES or len(kept) == 1:
            return found
        for node in list(kept)[: max(1, len(kept) // 4)]:
            del kept[node]


def with_measurements(record: Record, measured: Mapping[str, Measurement]) -> dict[str, Machine]:
    """The record with one more measurement of some nodes."""
    found = dict(record)
    for node, measurement in measured.items():
        machine = found.get(node, Machine())
        measurements = [*machine.measurements, measurement][-_MEASUREMENTS:]
        found[node] = machine.model_copy(update={"measurements": measurements})
    return found


def with_decision(record: Record, node: str, decision: Decision) -> dict[str, Machine]:
    """The record with one more decision of a node."""
    machine = record.get(node, Machine())
    return {**record, node: machine.model_copy(update={"decisions": [*machine.decisions, decision][-_DECISIONS:]})}


def identity_of(node: Mapping[str, Any]) -> Identity:
    """Which machine a node is now."""
    info = (node.get("status") or {}).get("nodeInfo") or {}
    found = node["metadata"].get("labels") or {}
    return Identity(
        vm=str(info.get("systemUUID", ""))[:100],
        boot=str(info.get("bootID", ""))[:100],
        image=str(found.get(VERSION_LABEL, ""))[:200],
        kernel=str(info.get("kernelVersion", ""))[:200],
        driver=str(found.get("nvidia.com/cuda.driver-version.full", ""))[:100],
    )


def measurements_in(report: Report, by: str, nodes: Iterable[Mapping[str, Any]] = ()) -> dict[str, Measurement]:
    """What a report says of each node that it looked at.

    by: the command that measured. nodes: as they were then.
    """
    known = {str(node["metadata"]["name"]): identity_of(node) for node in nodes}
    return {
        name: _measurement(report, by, name, known.get(name, Identity()))
        for name in sorted({*report["nodes"], *(check["node"] for check in report["checks"] if check["node"])})
    }


def _measurement(report: Report, by: str, name: str, identity: Identity) -> Measurement:
    checks = [check for check in report["checks"] if check["node"] == name]
    short = sorted((c for c in checks if c["verdict"] in _ORDER), key=lambda check: _ORDER.index(check["verdict"]))
    problems = [
        Problem(
            check=check["check"],
            verdict=cast("_Short", check["verdict"]),
            device=check["device"],
            expected=as_text(check["expected"])[:2000],
            measured=measured_text(check)[:2000],
            cause=check["cause"] and check["cause"][:2000],
        )
        for check in short[:_PROBLEMS]
    ]
    verdict = problems[0].verdict if problems else "pass" if name in report["nodes"] else "not measured"
    at, values = report["finished"], _values(report, name)
    return Measurement(at=at, by=by, verdict=verdict, identity=identity, problems=problems, values=values)


_ORDER: Final = ("fail", "warn", "not measured")


def _values(report: Report, name: str) -> list[Value]:
    """Each figure of each HCA of the node; where there are too many, those that are the farthest from the others'."""
    by_end: dict[tuple[str, str], dict[str, float]] = {}
    for row in report["rdma"]:
        if row["value"] is not None:
            by_end.setdefault((row["figure"], row.get("device", "")), {})[row.get("node", "")] = row["value"]
    found = []
    for (figure, device), by_node in by_end.items():
        if name in by_node:
            others = [value for node, value in by_node.items() if node != name]
            middle = median(others) if others else None
            one = Value(figure=figure, device=device, value=by_node[name], others=middle, other_nodes=len(others))
            found.append(one)
    kept = sorted(found, key=lambda one: -abs(one.value / one.others - 1) if one.others else 0.0)[:_FIGURES]
    return [one for one in found if one in kept]


def known(node: Mapping[str, Any], record: Record, report: Report | None) -> Machine:
    """All that is known of a node's machine, with what the stack's last validation has left of it."""
    name = str(node["metadata"]["name"])
    machine = record.get(name, Machine())
    accepted = measurements_in(report, ACCEPTANCE).get(name) if report else None
    measurements = sorted([*([accepted] if accepted else []), *machine.measurements], key=lambda one: one.at)
    return machine.model_copy(update={"measurements": measurements})


def doubt(measurement: Measurement, node: Mapping[str, Any]) -> str:
    """Why a measurement is not of the machine as it is now, in words; empty where it is."""
    then, now = measurement.identity, identity_of(node)
    born = str(node["metadata"].get("creationTimestamp") or "")
    if then.vm and now.vm and then.vm != now.vm:
        return "of a machine that is gone: the node has another one since"
    if not then.vm and born and _moment(born) > _moment(measurement.at):
        return f"older than the node, which joined at {born}"
    if then.boot and now.boot and then.boot != now.boot:
        return "of an earlier boot: the machine was started anew since"
    return ""


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        return 0.0


def teller_of(condition: Mapping[str, Any]) -> str:
    """Who has set the light check's condition of a node."""
    return "validate --cordon" if condition.get("reason") == FELL_SHORT else "light check"


def current(machine: Machine, node: Mapping[str, Any]) -> Measurement | None:
    """The newest measurement of the machine as it is now that says something of it."""
    told: Sequence[Measurement] = [one for one in machine.measurements if one.verdict != "not measured"]
    return next((one for one in reversed(told) if not doubt(one, node)), None)


def told(measurement: Measurement) -> str:
    """A measurement in a line."""
    short = measurement.failed or measurement.problems
    what = "; ".join(problem.told() for problem in short[:3]) or "nothing falls short"
    return f"{measurement.by} on {measurement.at}: {measurement.verdict}: {what}"
