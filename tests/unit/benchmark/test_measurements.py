"""docs/measurements.md has the measured figures, and the measured machines are the intended ones."""

import re
from typing import Any

import pytest
import yaml

from benchmark.makespan.benchmark_page import TIMED
from benchmark.tables import DOCUMENT, RESULTS, read, rendered

MEASURED = read(sorted(RESULTS.glob("*.json")))


def test_the_page_has_the_rows_of_the_results_and_of_no_others() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert rendered(text, MEASURED) == text
    assert len(re.findall(r"^\| \d × NVIDIA ", text, re.MULTILINE)) == 3 * len(MEASURED) == 6


def test_each_rate_and_bandwidth_that_the_page_quotes_is_in_the_file_of_what_was_measured_by_hand() -> None:
    section = DOCUMENT.read_text(encoding="utf-8").partition("## GPUs under load")[2].partition("\n## ")[0]
    quoted = re.findall(r"\b\d+\.\d+\b", re.sub(r"[\d.]+ %", "", section))
    recorded = re.findall(r"\d+\.\d+", (RESULTS / "by_hand.yaml").read_text(encoding="utf-8"))
    assert len(quoted) > 8
    assert set(quoted) - set(recorded) == set()


def test_no_timed_deployment_took_longer_than_the_page_says() -> None:
    [percent] = re.findall(r"each deployment took (\d+) % longer", DOCUMENT.read_text(encoding="utf-8"))
    deployments = yaml.safe_load(TIMED.read_text(encoding="utf-8"))["deployments"]
    assert len(deployments) == 12
    assert max(each["over_least"] for each in deployments) == 1 + int(percent) / 100


@pytest.mark.parametrize("name", MEASURED)
def test_the_ring_through_nccl_agrees_with_nccl_tests_within_1_percent_from_1_gib_and_10_at_1_mib(name: str) -> None:
    (rows,) = [run["rows"] for run in MEASURED[name]["comparison"] if run["tuning"] == "ring"]
    off = {row["bytes"] >> 20: abs(row["difference_percent"]["nccl"]) for row in rows}
    assert list(off) == [1, 64, 1024, 2048, 4096, 8192]
    assert {size: by for size, by in off.items() if by > (1.0 if size >= 1024 else 10.0)} == {}


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_not_judged_drifts_no_further_than_the_host_does(name: str) -> None:
    rows = [row for run in MEASURED[name]["comparison"] for row in run["rows"] if row["bytes"] >= 1 << 30]
    assert max(abs(by) for row in rows for by in row["difference_percent"].values()) <= 1.5


@pytest.mark.parametrize("name", MEASURED)
def test_each_changed_element_of_16_gib_was_found(name: str) -> None:
    changed = MEASURED[name]["changed"]
    assert (changed["bytes"], changed["right"]) == (16 << 30, 0)
    assert changed["found"] == changed["found_here"] == changed["changed"]


@pytest.mark.parametrize("name", MEASURED)
def test_the_forced_fall_back_was_called_by_its_name(name: str) -> None:
    assert MEASURED[name]["sockets"]["transport"] == "TCP sockets"
    assert MEASURED[name]["sockets"]["failures"] == []
    assert {run["transport"] for run in MEASURED[name]["sweeps"]} == {"peer to peer within the host (NVLink or PCIe)"}


@pytest.mark.parametrize("name", MEASURED)
def test_every_sum_was_right_at_every_size(name: str) -> None:
    runs = [*MEASURED[name]["sweeps"], MEASURED[name]["sockets"]]
    assert {size["wrong"] for run in runs for size in run["sizes"]} == {0}
    assert [size["bytes"] for size in runs[0]["sizes"]][::11] == [8, 16 << 30]


@pytest.mark.parametrize("name", MEASURED)
def test_who_died_was_named_and_nobody_else(name: str) -> None:
    found: dict[str, Any] = MEASURED[name]
    assert [said["device"] for said in found["one_too_many"]] == [f"GPU {found['gpus']}"]
    assert "the GPU is not there" in found["one_too_many"][0]["cause"]
    assert [said["device"] for said in found["killed"]] == ["GPU 1"]
    assert "SIGKILL" in found["killed"][0]["measured"]
