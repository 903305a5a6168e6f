"""Later looks at machines: the nodes that are missing, figures next to accepted ones, and the record of a machine."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from aks_infiniband.validation import machines
from aks_infiniband.validation.machines import Machine
from aks_infiniband.validation.membership import memberships
from aks_infiniband.validation.payload.look.identity import identity_of
from aks_infiniband.validation.payload.report.acceptance import accepted_of, compare, worst_values
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband.validation.payload.talk.config_maps import packed
from aks_infiniband.validation.pool_expectations import expectations

from tests.cases import Case, patched
from tests.unit.command_line.validations import job_of, report
from tests.unit.command_line.validations import node as node_of_pool
from tests.unit.validation.cases.checks import shown
from tests.unit.validation.healthy import POOL

_FINISHED: Final = "2026-11-01T10:00:00+00:00"
_ACCEPTED: Any = {"finished": _FINISHED, "values": {"rdma-write-bandwidth": 393.1, "rdma-read-latency": 5.5}}
SLOW: Final = {
    "check": "rdma-write-bandwidth",
    "verdict": "fail",
    "node": "b",
    "device": "mlx5_3",
    "expected": ">= 380 Gb/s",
    "measured": 314.0,
    "unit": "Gb/s",
    "tries": None,
    "cause": "the HCA is slow",
}
_CHECKS: Final[Mapping[str, Any]] = {
    "slow": SLOW,
    "hot": {**SLOW, "check": "gpu-rate", "device": "GPU 3"},
    "well": {**SLOW, "verdict": "pass", "node": None},
    "not measured": {**SLOW, "verdict": "not measured", "node": None},
    "of no node": {**SLOW, "node": None},
}
"""Checks by the words that cases have for them."""


def outcome_of_members(case: Case) -> Any:
    """A pool of four by its deployed validation, with `nodes` as in `abc`, `reports` on such nodes, and `others` of
    another pool; or by the Job of another `manager`.
    """
    manager = {"app.kubernetes.io/managed-by": case.get("manager", "pulumi")}
    job: Any = patched(job_of(), {"metadata": {"labels": manager}})
    maps: list[Any] = [{"metadata": {"name": "kube-root-ca.crt"}, "data": {"report.json": "{}"}}]
    for each in case.get("reports", ()):
        nodes: dict[str, Any] = {name: {} for name in each["nodes"]}
        document = {"pool": "ndh100", "finished": each.get("finished", _FINISHED), "nodes": nodes}
        maps.append(
            {"metadata": {"name": "r", "namespace": "system"}, **packed({"report.json.gz": json.dumps(document)})}
        )
    others: list[Any] = [node_of_pool(name) for name in case.get("others", "")]
    for other in others:
        other["metadata"]["labels"]["agentpool"] = "web"
    members = memberships([job], maps, [*map(node_of_pool, case["nodes"]), *others])
    return {name: [one.expected, one.present, one.missing, one.told()] for name, one in members.items()}


def outcome_of_comparison(case: Case) -> Any:
    """Values next to the accepted ones, or next to a `text`; or the worst of `rows` and of a check."""
    thresholds: Any = expectations(POOL)["thresholds"]
    if "rows" in case:
        rows = [{"figure": figure, "value": value} for figure, value in case["rows"]]
        parts: Any = {"rdma": rows, "networks": []}
        return worst_values(parts, [make_check("all-reduce", "pass", expected=300, measured=381.5)], thresholds)
    accepted = accepted_of(case["text"]) if "text" in case else _ACCEPTED
    return shown(compare(accepted, case["values"], thresholds), thresholds)


def report_on(*checks: Any, finished: str = "2026-11-22T10:00:00+00:00") -> Any:
    """A report on three nodes."""
    rows = [("a", 393.0), ("b", 314.0), ("c", 395.0)]
    document = {**report(314.0, *checks), "finished": finished, "nodes": {"a": {}, "b": {}, "c": {}}}
    one = {"figure": "rdma-write-bandwidth", "device": "mlx5_3"}
    return {**document, "rdma": [{**one, "node": name, "value": value} for name, value in rows]}


def machine_node(boot: str = "boot-1", vm: str = "vm-1", born: str = "2026-11-01T00:00:00Z") -> dict[str, Any]:
    """Node b."""
    info = {"bootID": boot, "systemUUID": vm, "kernelVersion": "6.8"}
    return {"metadata": {"name": "b", "creationTimestamp": born}, "status": {"nodeInfo": info}}


def outcome_of_record(case: Case) -> Any:
    """Node b after `runs` on days from the tenth on, each with its checks, and on the twentieth after the stack's
    report if it was `accepted`, on the machine that its pods have `seen`. `now` has what has changed since.
    """
    record: dict[str, Machine] = {}
    for number, checks in enumerate(case.get("runs", ())):
        made = report_on(*map(_CHECKS.get, checks), finished=f"2026-11-{10 + number}T10:00:00+00:00")
        record = machines.with_measurements(record, machines.measurements_in(made, "validate", [machine_node()]))
    facts = {"identity": identity_of(machine_node(**case["seen"]))} if "seen" in case else case.get("accepted")
    seen = {"finished": "2026-11-20T10:00:00+00:00", "nodes": {"b": facts}}
    node = machine_node(**case.get("now", {}))
    accepted: Any = {**report_on(), **seen} if facts is not None else None
    known = machines.known(node, record, accepted)
    newest = machines.current(known, node)
    return {
        "measurements": [_told(one, node) for one in known.measurements],
        "current": newest and f"{newest.at}, {newest.verdict}",
        "against it": list(machines.standing_against(known, node)),
    }


def _told(one: machines.Measurement, node: Any) -> dict[str, Any]:
    values = [[value.value, value.others, value.other_nodes] for value in one.values]
    told = {"machine": f"{one.identity.vm}, {one.identity.boot}", "verdict": one.verdict, "values": values}
    problems = [problem.told() for problem in one.problems]
    return {"at": one.at, "by": one.by, **told, "problems": problems, "doubt": machines.doubt(one, node)}


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "members": outcome_of_members,
    "comparison": outcome_of_comparison,
    "record": outcome_of_record,
}
