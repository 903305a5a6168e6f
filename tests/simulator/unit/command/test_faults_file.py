"""A person's file of faults of the simulated machines: read, and refused, before anything starts."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from rehearsal.control_plane import RunFolder
from rehearsal.faults import machine_faults
from rehearsal.faults.checking import FaultsError, checked
from rehearsal.faults.file import read_file
from rehearsal.faults.kinds import FAULTS, KEYS
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.snippets import snippets


def refusal(folder: Path, text: str | bytes) -> str:
    file = folder / "faults.yaml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FaultsError) as refused:
        read_file(file)
    return str(refused.value)


def test_the_faults_of_the_rehearsals_page_are_known() -> None:
    (example,) = snippets("rehearsal.md", "yaml")
    assert len(checked(yaml.safe_load(example), "rehearsal.md")) == 4


def test_a_faults_file_is_checked_before_anything_starts(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_text("- {fault: slow}")
    rehearsal = Rehearsal(project=PROJECT, stack="dev", run=RunFolder.at(tmp_path / "run"), faults=file)
    with pytest.raises(FaultsError), rehearsal.data_centre():
        pass


@pytest.mark.parametrize("content", ["- {fault: '" + "x" * 900_000 + "'}", "- {fault: x}\n" * 5000, "x" * 900_000])
def test_a_long_file_makes_no_long_error(tmp_path: Path, content: str) -> None:
    assert len(refusal(tmp_path, content)) < 2000
    assert not (tmp_path / "run").exists()


def test_the_command_tells_of_a_faults_file_that_is_not_text_without_a_traceback(tmp_path: Path) -> None:
    file = tmp_path / "faults.yaml"
    file.write_bytes(b"\xff\xfe\x00")
    command = [sys.executable, "-m", "rehearsal", "up", "dev", "--faults", str(file)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout.splitlines()[-1] == f"rehearsal: {file}: is not YAML: it is not text in UTF-8"


def test_every_fault_with_all_of_its_keys_is_taken() -> None:
    values = {"node": "*", "device": "mlx5_3", "gpu": 0, "place": 3, "factor": 0.5, "rateGbps": 800, "times": 2}
    values |= {"pod": "mofed-*", "answer": "denied", "message": "insmod: ERROR", "release": "25.01", "error": 802}
    values |= {"event": "Reboot", "minutes": 15}
    values |= {"curedBy": "redeploy", "cured": ["aks-hb-12345678-vmss000000"]}
    assert values.keys() | {"fault"} == set(KEYS)
    entries = [{"fault": fault.name, **{key: values[key] for key in fault.keys[1:]}} for fault in FAULTS.values()]
    assert checked(entries, "here") == entries


def test_faults_that_were_written_by_hand_are_checked_too(tmp_path: Path) -> None:
    machine_faults.write(tmp_path, [{"fault": "latency", "node": "node-1"}])
    with pytest.raises(FaultsError, match="has no factor"):
        machine_faults.read(tmp_path)


def test_nobody_can_read_a_fault_that_is_not_described() -> None:
    with pytest.raises(KeyError):
        machine_faults.concerning([], "slwo", "node-1")
