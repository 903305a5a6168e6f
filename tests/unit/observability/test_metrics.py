"""Alerts and dashboard use metrics that exist, and say what to do; the dashboard is one that Grafana can lay out."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml
from aks_infiniband.facts.tables import table
from aks_infiniband.observability.dashboard import dashboard
from aks_infiniband.observability.documents import rules
from aks_infiniband.validation.payload.light_check import exporter

from tests.pictures.dashboard import samples

ROOT = Path(__file__).parents[3]
TABLE = table("aks_infiniband.observability", "metrics.yaml")
METRICS = TABLE["metrics"]
ALERTS = [rule for group in rules()["groups"] for rule in group["rules"]]
BOARD = json.loads(dashboard())
RECEIVED, RATE = "node_infiniband_port_data_received_bytes_total", "node_infiniband_rate_bytes_per_second"
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
QUERIES = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = [variable["definition"] for variable in BOARD["templating"]["list"] if "definition" in variable]
METRIC = re.compile(r"\b(?:up|(?:aks_infiniband|node_infiniband|DCGM|kube)_\w+)\b(?!\")")


def used(expressions: list[str]) -> set[str]:
    """The metrics that expressions name; what stands in quotes is a label's value."""
    return {name for text in expressions for name in METRIC.findall(re.sub(r'"[^"]*"', '""', text))}


def test_every_metric_that_is_used_is_in_the_table_and_every_one_in_the_table_is_used() -> None:
    assert used([*(rule["expr"] for rule in ALERTS), *QUERIES, *VARIABLES]) == set(METRICS)


def test_every_metric_of_the_table_has_a_source_that_is_named() -> None:
    assert all(metric.keys() == {"source", "labels", "what"} for metric in METRICS.values())
    assert {metric["source"] for metric in METRICS.values()} == set(TABLE["sources"])


def test_the_scheduled_check_has_the_metrics_that_the_table_says_are_its() -> None:
    of_the_check = {name for name, metric in METRICS.items() if metric["source"] == "light-check"}
    assert of_the_check <= {f"{exporter.PREFIX}{name}" for name in exporter.METRICS}


def test_an_alert_says_how_bad_it_is_what_it_is_and_what_to_do_next() -> None:
    for alert in ALERTS:
        assert alert["labels"]["severity"] in ("warning", "critical")
        assert {"summary", "description", "runbook"} == alert["annotations"].keys()
        assert re.search("aks-infiniband doctor|kubectl", alert["annotations"]["runbook"])


def test_an_alert_names_only_labels_that_its_metrics_have() -> None:
    for alert in ALERTS:
        known = {label for name in used([alert["expr"]]) for label in METRICS[name]["labels"]}
        named = set(re.findall(r"\$labels\.(\w+)", " ".join(alert["annotations"].values())))
        assert named <= known


def test_prometheus_own_tests_have_every_alert() -> None:
    tests = (ROOT / "tests/rehearsal/observability/alerts.yaml").read_text(encoding="utf-8")
    fired = {
        found[1]
        for test in yaml.safe_load(tests)["tests"]
        for case in test["promql_expr_test"]
        for sample in case["exp_samples"]
        if (found := re.search(r'alertname="(\w+)"', sample["labels"]))
    }
    assert fired == {rule["alert"] for rule in ALERTS}


def test_panels_lie_within_the_grid_and_beside_each_other() -> None:
    def covers(panel: Any) -> set[tuple[int, int]]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        return {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}

    places = [(panel["title"], covers(panel)) for panel in BOARD["panels"]]
    assert [(one, other) for (one, its), (other, others) in combinations(places, 2) if its & others] == []
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])


def test_a_legend_names_only_labels_that_a_panels_metrics_have() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            known = {label for name in used([target["expr"]]) for label in METRICS[name]["labels"]}
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= known, panel["title"]


def test_names_are_beside_a_graph_and_the_few_long_ones_of_what_is_wrong_below_it() -> None:
    for panel in PANELS:
        if panel["type"] == "timeseries":
            wrong = all(target["expr"].endswith("> 0") for target in panel["targets"])
            assert panel["options"]["legend"]["placement"] == ("bottom" if wrong else "right"), panel["title"]


def test_every_metric_of_the_dashboard_is_in_the_picture_of_it() -> None:
    shown = {metric for metric, _, _ in samples(at=0.0, left=0)}
    assert used(QUERIES) <= shown


def test_no_port_in_the_picture_carries_more_than_the_rate_that_it_has_trained_to() -> None:
    before = carried(left=21900)
    for left in range(21600, -1, -300):
        now = carried(left)
        for port, (moved, rate) in now.items():
            assert 0 <= moved - before[port][0] <= 300 * rate, (port, left)
        before = now


def carried(left: float) -> dict[tuple[str, str], tuple[float, float]]:
    """By node and device, what a port has received, and its rate."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for metric, labels, value in samples(at=0.0, left=left):
        if metric in (RECEIVED, RATE):
            found.setdefault(metric, {})[labels["node"], labels["device"]] = value
    return {port: (moved, found[RATE][port]) for port, moved in found[RECEIVED].items()}
