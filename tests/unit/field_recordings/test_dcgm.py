"""The reader understands what DCGM was seen to print, and the simulated dcgmi prints it in the same form."""

import fcntl
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from aks_infiniband.facts.releases import DEFAULT_RELEASE
from aks_infiniband_cli.bad_machines.evidence.dcgm.opinion import findings, finds_bad
from aks_infiniband_cli.bad_machines.evidence.dcgm.reader import DiagnosticsError, diagnosis_of

from rehearsal.faults import machine_faults
from rehearsal.machines.gpu_libraries import dcgm
from rehearsal.machines.gpu_libraries.dcgm_words import HOST_ENGINES, VERSION
from rehearsal.machines.hardware.model import hardware_of
from rehearsal.machines.hardware.sysfs import sys_files, write_files
from tests.unit.field_recordings.recordings import excerpt

ASKED = ["diag", "-r", "2", "-j", "--host", "10.244.1.7:5555"]


def recorded(name: str) -> Any:
    """The recording is wrapped between its words."""
    return json.loads(" ".join(excerpt(name).split()))


def test_dcgm_4_is_read_and_persistence_mode_is_no_fault_of_a_gpu() -> None:
    found = diagnosis_of(json.dumps(recorded("dcgm4-diag-1-gb10")))
    assert (found["version"], found["driver"], found["serials"]) == ("4.2.3", "580.82.09", {0: ""})
    (row,) = found["results"]
    assert (row["test"], row["gpu"], row["result"], finds_bad(row)) == ("software", 0, "Fail", False)
    assert "Persistence mode for GPU 0 is disabled" in row["words"][0]


def test_dcgm_3_is_read() -> None:
    found = diagnosis_of(json.dumps(recorded("dcgm3-diag-2")))
    assert findings(found) == ["Denylist: Pass", "PCIe: Pass, GPU 0", "GPU Memory: Pass, GPU 0"]


@pytest.mark.parametrize(
    ("test", "result", "words", "bad"),
    [
        ("CUDA Main Library", recorded("dcgm3-warning"), "Cannot open library libcuda.so", False),
        # As DCGM 3.3.9 writes it (dcgmi/Diag.cpp, HelperJsonAddCategory's caller): the words stand in `warnings`.
        (
            "Page Retirement/Row Remap",
            {
                "status": "Fail",
                "gpu_id": 3,
                "warnings": [None, {"warnings": "row remapping failed", "error_category": 10}],
            },
            "row remapping failed",
            True,
        ),
    ],
)
def test_a_warning_of_dcgm_3_is_read(test: str, result: Any, words: str, bad: bool) -> None:
    document = recorded("dcgm3-diag-2")
    document["DCGM GPU Diagnostic"]["test_categories"][0]["tests"] += [None, {"name": test, "results": [result]}]
    found = diagnosis_of(json.dumps(document))
    (row,) = [row for row in found["results"] if row["result"] == "Fail"]
    assert row["words"][0].startswith(words)
    assert finds_bad(row) is bad


def test_what_a_test_measured_is_left_out() -> None:
    test = recorded("dcgm4-results")
    printed = {"DCGM Diagnostic": {"test_categories": [{"category": "Hardware", "tests": [test]}]}}
    assert findings(diagnosis_of(json.dumps(printed))) == ["diagnostic: Pass on 2 GPUs"]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of 8 H100, on which a host engine listens."""
    hardware = hardware_of(size="Standard_ND96isr_H100_v5", machine="node", fabric="one")
    write_files(tmp_path / "sys", sys_files(hardware, ("nvidia",)))
    variables = {"NODE": "node", "POD_IP": "10.244.1.9", "MACHINE": tmp_path, "CONTAINER": tmp_path / "container"}
    for name, value in variables.items():
        monkeypatch.setenv(f"REHEARSAL_{name}", str(value))
    monkeypatch.setenv("AKS_INFINIBAND_REHEARSAL", str(tmp_path))
    monkeypatch.setenv(HOST_ENGINES, "10.244.1.7")
    return tmp_path


def shape(found: Any) -> Any:
    """The keys of a document, with one entry of each array."""
    if isinstance(found, Mapping):
        return {key: shape(value) for key, value in found.items() if key not in {"info", "warnings"}}
    return [shape(found[0])] if isinstance(found, list) else type(found)


@pytest.mark.usefixtures("machine")
def test_the_simulated_one_has_the_recorded_form(capsys: pytest.CaptureFixture[str]) -> None:
    assert dcgm.main(["diag", "-r", "1", *ASKED[3:]]) == 0
    assert shape(json.loads(capsys.readouterr().out)) == shape(recorded("dcgm4-diag-1-gb10"))
    assert dcgm.main(ASKED) == 0
    assert findings(diagnosis_of(capsys.readouterr().out)) == [
        f"{test}: Pass on 8 GPUs" for test in ("software", "memory", "pcie")
    ]


@pytest.mark.parametrize(
    ("fault", "status", "told"),
    [
        ({"fault": "gpu-memory"}, 226, ["software: Fail, GPU 3", "memory: Skip, GPU 3", "pcie: Skip, GPU 3"]),
        ({"fault": "half-lanes"}, 226, ["pcie: Fail, GPU 3"]),
        ({"fault": "gpu-error", "error": 214}, 205, ["memory: Fail, GPU 3"]),
        ({"fault": "throttled-gpu", "factor": 0.6}, 0, []),
        ({"fault": "slow-gpu", "factor": 0.6}, 0, []),
    ],
)
def test_the_simulated_one_finds_what_level_2_looks_at(
    machine: Path, capsys: pytest.CaptureFixture[str], fault: dict[str, Any], status: int, told: list[str]
) -> None:
    machine_faults.write(machine, [{**fault, "gpu": 3}])
    assert dcgm.main(ASKED) == status
    lines = [line for line in findings(diagnosis_of(capsys.readouterr().out)) if "Pass" not in line]
    assert [":".join(line.split(":")[:2]) for line in lines] == told


def test_the_simulated_one_is_as_unkind_as_the_real_one(machine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (machine / "dcgm").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert dcgm.main(ASKED) == 217
    with pytest.raises(DiagnosticsError, match="already running"):
        diagnosis_of(capsys.readouterr().out)
    # The host engine is absent, and its container lacks a GPU.
    assert dcgm.main([*ASKED[:-1], "10.244.1.8:5555"]) == 200
    with pytest.raises(DiagnosticsError, match="unable to establish a connection"):
        diagnosis_of(capsys.readouterr().out)


def test_the_simulated_one_is_the_release_that_the_gpu_operator_runs() -> None:
    assert DEFAULT_RELEASE.gpu_operator.images["dcgm"]["version"].startswith(f"{VERSION}-")
