"""Alerts, dashboard, and what they are tested on have the names and labels that real exporters were recorded with."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from aks_infiniband.facts.tables import table

from tests.pictures.dashboard import samples
from tests.unit.field_recordings.recordings import excerpt, recordings
from tests.unit.observability.test_metrics import ALERTS, QUERIES

ROOT = Path(__file__).parents[3]
METRICS = table("aks_infiniband.observability", "metrics.yaml")["metrics"]
SERIES = re.compile(r"(\w+)\{(.*?)\}")
MONITORS = {"instance", "job", "node", "pool"}
"""Labels that a monitor, or Prometheus itself, puts on."""
OF_A_POD = {"container", "namespace", "pod", "pod_uid"}
XID = {"err_code", "err_msg"}


def read(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each series' metric and labels."""
    for name, labels in SERIES.findall(text):
        yield name, dict(re.findall(r'(\w+)="([^"]*)"', labels))


RECORDED = {
    name: labels.keys()
    for recording in ("dcgm-exporter-in-kubernetes", "node-exporter-infiniband")
    for name, labels in read(excerpt(recording))
}


def as_recorded(name: str, labels: set[str]) -> bool:
    """True if a series has the labels of its metric: a GPU may be without a pod, and the monitors' come on top."""
    if name.startswith("node_infiniband"):
        return labels - MONITORS == {"device", "port"}
    expected = RECORDED[name] - OF_A_POD
    return labels - MONITORS in (expected, expected | OF_A_POD)


def test_every_metric_that_an_exporter_is_said_to_have_was_recorded() -> None:
    wanted = {name for name, metric in METRICS.items() if metric["source"] in ("exporter", "dcgm")}
    facts = recordings()["node-exporter-infiniband"]["facts"]
    assert wanted - RECORDED.keys() == {"node_infiniband_symbol_error_total"}
    assert any(fact.startswith("symbol_error is in the collector") for fact in facts)


def test_the_table_names_no_label_that_was_not_recorded() -> None:
    for name, labels in RECORDED.items():
        assert set(METRICS[name]["labels"]) - MONITORS <= labels


def test_the_alerts_are_tested_on_series_with_the_recorded_labels() -> None:
    tests = yaml.safe_load((ROOT / "tests/rehearsal/observability/alerts.yaml").read_text(encoding="utf-8"))["tests"]
    given = [series["series"] for test in tests for series in test["input_series"]]
    found = [(name, set(labels)) for text in given for name, labels in read(text) if name in RECORDED]
    assert any(labels >= OF_A_POD for _, labels in found)
    assert [series for series in found if not as_recorded(*series)] == []


@pytest.mark.parametrize("left", [0, 9900, 20000])
def test_the_picture_shows_series_with_the_recorded_labels(left: int) -> None:
    shown = [(name, set(labels)) for name, labels, _ in samples(at=0.0, left=left) if name in RECORDED]
    assert [series for series in shown if not as_recorded(*series)] == []
    assert {labels >= OF_A_POD for name, labels in shown if name.startswith("DCGM")} == {left != 9900}


def test_a_gpu_is_one_series_whichever_pod_has_it() -> None:
    """Else an error that ends the pod ends the series too, before it has grown."""
    for expression in [*(rule["expr"] for rule in ALERTS), *QUERIES]:
        for before in re.split(r"DCGM_\w+\{", expression)[:-1]:
            assert re.search(r"max by \(node, gpu(, err_code, err_msg)?\)\s*\($", before), expression
