"""Checks as people read them."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final

from aks_infiniband.diagnosis.view import View
from aks_infiniband.validation.explanation import explain, passed, table
from aks_infiniband.validation.payload.look.judge import judge_pool
from aks_infiniband.validation.payload.report.document import build_report, message_of, unmeasured_report
from aks_infiniband.validation.payload.say.checks import fails_update, make_check, verdict_of
from aks_infiniband.validation.payload.say.lines import lines_of
from aks_infiniband.validation.payload.talk.config_maps import packed
from aks_infiniband.validation.payload.validate import skipped
from aks_infiniband.validation.pool_expectations import expectations

from tests.cases import Case, patched, plain
from tests.unit.diagnosis.views import HEALTHY, JOB, job, pod
from tests.unit.diagnosis.views import said as said_of
from tests.unit.validation.healthy import POOL, healthy

_USUAL: Final = {
    "name": "hca-rate",
    "verdict": "fail",
    "node": "n1",
    "device": "mlx5_ib2",
    "expected": 400,
    "measured": 200.0,
    "cause": "fewer lanes",
}


def outcome_of_checks(case: Case) -> dict[str, Any]:
    """The words on checks, each with its differences from a usual one. A name as `m0 to m9` stands for ten checks."""
    checks = [check for change in case["checks"] for check in _checks(change)]
    told = {
        "table": table(checks),
        "passed": passed(checks),
        "lines": lines_of(checks),
        "verdict": verdict_of(checks),
        "fails the update": fails_update(checks),
    }
    return {key: value for key, value in told.items() if value or value is False}


def _checks(change: Mapping[str, Any]) -> Iterator[Any]:
    values = [None if isinstance(made, str) else made for made in change.get("tries", ())]
    errors = [made if isinstance(made, str) else None for made in change.get("tries", ())]
    tries = [{"value": value, "error": error} for value, error in zip(values, errors, strict=True)]
    own = {**_USUAL, **change, **({"tries": tries} if tries else {})}
    for node, device in product(_names(own["node"]), _names(own["device"])):
        yield make_check(**{**own, "node": node, "device": device})


def _names(text: str | None) -> list[str | None]:
    """The names that a text stands for."""
    ends = re.fullmatch(r"(.*?)(\d+) to \1(\d+)", text or "")
    return [f"{ends[1]}{number}" for number in range(int(ends[2]), int(ends[3]) + 1)] if ends else [text]


def outcome_of_report(case: Case) -> dict[str, Any]:
    """The report on `nodes` with their differences from healthy ones, of a pool with the differences of `expected`, and
    on further `checks`. `skipped`: all that was to be measured is; `off`: the validation is.
    """
    expected = patched(plain(expectations(POOL)), case.get("expected", {}))
    facts: Any = {name: patched(healthy(), change) for name, change in case["nodes"].items()}
    checks = [*judge_pool(facts, expected), *(check for change in case.get("checks", ()) for check in _checks(change))]
    checks += skipped(checks, expected).checks if case.get("skipped") else []
    report: Any = build_report({"run": "uid", "mode": "enforce", "finished": "now"}, facts, checks, expected, {})
    report = unmeasured_report(expected, mode="off") if case.get("off") else report
    assert json.loads(json.dumps(report)) == report
    head = {key: report[key] for key in ("schema_version", "pool", "run", "mode", "verdict", "coverage")}
    return {**head, "message": message_of(report), "fails the update": fails_update(checks)}


def report_map(checks: list[Any], run: str = "uid-1", text: str | None = None) -> dict[str, Any]:
    """The ConfigMap with a report."""
    coverage = {"summary": "2 of 2 nodes, 16 of 16 HCAs"}
    document = {"run": run, "pool": "ndh100", "verdict": "fail", "coverage": coverage, "checks": checks}
    metadata = {"name": "ndh100-validation-report", "namespace": "aks-infiniband"}
    return {"metadata": metadata, **packed({"report.json.gz": json.dumps(document) if text is None else text})}


def said(*config_maps: Any, pods: Sequence[Any] = ()) -> str:
    """The words on a failed wait for a validation."""
    view = View(nodes=HEALTHY, pods=list(pods), jobs=[job()], config_maps=list(config_maps))
    return str(said_of(JOB, view, explain=explain))


def outcome_of_explanation(case: Case) -> list[str]:
    """The words on a failed validation whose report has `checks`, is of another `run`, or is a `text`; or that left no
    `report`. A `pod` has ended with a message.
    """
    checks = [check for change in case.get("checks", [{}]) for check in _checks(change)]
    state = {"terminated": {"exitCode": 1, "message": case.get("pod")}}
    pods = [pod("validate-1-0", phase="Failed", containerStatuses=[{"name": "validate", "state": state}])]
    maps = [report_map(checks, case.get("run", "uid-1"), case.get("text"))] if case.get("report", True) else []
    return said(*maps, pods=pods if "pod" in case else ()).split("\n")


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "words": outcome_of_checks,
    "report": outcome_of_report,
    "explanation": outcome_of_explanation,
}
