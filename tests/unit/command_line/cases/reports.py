"""Reports of validations, and what people and programs see of them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import yaml
from aks_infiniband.validation import machines
from aks_infiniband.validation.machines import Decision, Machine, Measurement, Problem
from aks_infiniband.validation.payload.say.checks import make_check
from aks_infiniband_cli.report.machines import line, since
from aks_infiniband_cli.report.page import plots_of
from aks_infiniband_cli.test_results.cases import Suite, suite
from aks_infiniband_cli.test_results.ctrf import ctrf
from aks_infiniband_cli.test_results.junit import junit
from jsonschema import Draft7Validator

from tests.cases import Case, patched
from tests.unit.command_line.test_report_page import report
from tests.unit.command_line.validations import report as small_report

SCHEMA: Final = yaml.safe_load(Path(__file__).parents[1].joinpath("ctrf.schema.yaml").read_text(encoding="utf-8"))
WRITTEN: Final = datetime(2026, 11, 28, 12, tzinfo=UTC)


def outcome_of_plots(case: Case) -> list[dict[str, Any]]:
    """The plots of a report: the lines of each with their lowest and highest values, its cells, and its labels.
    `report` has the differences from a usual one.
    """
    return [_shown(plot.figure.axes[0]) for plot in plots_of(patched(report(), case.get("report", {})))]


def _shown(axes: Any) -> dict[str, Any]:
    heights = {str(each.get_label()): each.get_ydata() for each in axes.get_lines()}
    shown = {
        "lines": {label: [float(min(values)), float(max(values))] for label, values in heights.items()},
        "cells": axes.images[0].get_array().tolist() if axes.images else [],
        "texts": " ".join(text.get_text() for text in axes.texts),
        "across": [tick.get_text() for tick in axes.get_xticklabels()],
        "down": [tick.get_text() for tick in axes.get_yticklabels()] if axes.images else [],
    }
    return {key: value for key, value in shown.items() if value}


def suite_of(*checks: Any, verdict: str = "fail", **changes: Any) -> Suite:
    """The suite of a pool's report with these checks."""
    made: Any = report(checks=list(checks), verdict=verdict, **changes)
    return suite("ndh100", verdict, ["pool ndh100"], made)


def results_in(*suites: Suite) -> list[dict[str, Any]]:
    """The tests in the document of CTRF, which is valid."""
    document = ctrf(suites, WRITTEN)
    Draft7Validator(SCHEMA).validate(document)
    found: list[dict[str, Any]] = document["results"]["tests"]
    return found


def outcome_of_results(case: Case) -> dict[str, Any]:
    """JUnit's cases and CTRF's tests of `reports`, which have a `verdict`, the time at which they `finished`, and
    `checks` with the differences from one without any value.
    """
    none = {"expected": None, "measured": None}
    suites = [
        suite_of(*(make_check(**{**none, **check}) for check in each.get("checks", ())), **_without(each, "checks"))
        for each in case["reports"]
    ]
    root = ET.fromstring(junit(suites))
    summary = ctrf(suites, WRITTEN)["results"]["summary"]
    times = {key: datetime.fromtimestamp(summary[key] / 1000, UTC).isoformat() for key in ("start", "stop")}
    pools = {f"{pool.get('name')} {number}": _suite(pool) for number, pool in enumerate(root)}
    return {"JUnit": {"all": dict(root.attrib), **pools}, "CTRF": {**summary, **times}, "tests": results_in(*suites)}


def _suite(pool: ET.Element) -> dict[str, Any]:
    cases = {
        f"{each.get('classname')}: {each.get('name')}": [
            f"{part.tag}: {part.get('message') or part.text}" for part in each
        ]
        for each in pool
    }
    return {**_without(dict(pool.attrib), "name"), "cases": cases}


def _without(document: Case, key: str) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != key}


def outcome_since_report(case: Case) -> list[str]:
    """The lines on node a that are newer than a report of 2026-11-20. `born`: when it joined; `measurements`: of it,
    by a program, on a day, with the failed checks; `decisions`: on it.
    """
    info = {"bootID": "b", "systemUUID": "v"}
    node = {"metadata": {"name": "a", "creationTimestamp": case.get("born", "2026-11-01T00:00:00Z")}}
    node["status"] = {"nodeInfo": info}
    problem = Problem(check="rdma-write-bandwidth", verdict="fail", device="mlx5_3", expected="380", measured="314")
    measurements = [
        Measurement(
            at=f"{each.get('on', '2026-11-22')}T10:00:00+00:00",
            by=each["by"],
            verdict="fail" if each.get("failed") else "pass",
            identity=machines.identity_of(node),
            problems=[problem] if each.get("failed") else [],
        )
        for each in case.get("measurements", ())
    ]
    decisions = [Decision(**each) for each in case.get("decisions", ())]
    accepted: Any = {**small_report(390.0), "finished": "2026-11-20T10:00:00+00:00", "nodes": {"a": {}}}
    record = {"a": Machine(measurements=measurements, decisions=decisions)}
    return [line(each) for each in since("nd", accepted, [node], record)]
