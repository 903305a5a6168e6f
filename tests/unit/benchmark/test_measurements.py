"""docs/measurements.md says what was measured, and what was measured is what was asked for."""

from typing import Any

import pytest

from benchmark.tables import DOCUMENT, RESULTS, read, rendered

MEASURED = read(sorted(RESULTS.glob("*.json")))


def test_the_document_has_the_tables_of_the_results_and_of_no_others() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert rendered(text, MEASURED) == text
    assert text.count("<!-- machine ") == len(MEASURED) == 2


@pytest.mark.parametrize("name", MEASURED)
def test_the_payload_agrees_with_the_loop_within_one_percent_from_1_to_8_gib(name: str) -> None:
    rows = [(run["tuning"], row) for run in MEASURED[name]["comparison"] for row in run["rows"]]
    assert [(tuning, row["bytes"] >> 30) for tuning, row in rows] == [
        (tuning, size) for tuning in ("ring", "nccl") for size in (1, 2, 4, 8)
    ]
    assert {row["bytes"]: row["difference_percent"] for _, row in rows if abs(row["difference_percent"]) > 1.0} == {}


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
