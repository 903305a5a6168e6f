"""The hand-over of examples/terraform: from what `terraform output -json` prints to a stack file."""

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

EXAMPLE: Final = Path(__file__).parents[3] / "examples/terraform"
OUTPUTS: Final[dict[str, Any]] = json.loads((EXAMPLE / "outputs.json").read_text())


def handed_over(folder: Path, outputs: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    """The hand-over of these outputs."""
    (folder / "outputs.json").write_text(json.dumps(outputs))
    command = [sys.executable, str(EXAMPLE / "hand_over.py"), "outputs.json"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def changed(**values: Any) -> dict[str, Any]:
    outputs = copy.deepcopy(OUTPUTS)
    outputs["infiniband_pools"]["value"]["ndh100"] |= values
    return outputs


def test_the_examples_stack_file_is_what_its_outputs_become(tmp_path: Path) -> None:
    assert handed_over(tmp_path, OUTPUTS).stdout == (EXAMPLE / "Pulumi.lab.yaml").read_text()


def test_what_terraform_has_scaled_stands_in_the_stack_file(tmp_path: Path) -> None:
    assert "\n    count: 3\n" in handed_over(tmp_path, changed(count_of=3)).stdout


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({}, "the outputs lack cluster, infiniband_pools"),
        (changed(vm_size="Standard_D8s_v5"), "infiniband_pools.ndh100.vm_size is Standard_D8s_v5"),
        (changed(gpu_profile=None), 'infiniband_pools.ndh100.gpu_profile.driver is Install; it must be "None"'),
    ],
)
def test_what_no_stack_file_can_say_is_named(outputs: dict[str, Any], words: str, tmp_path: Path) -> None:
    done = handed_over(tmp_path, outputs)
    assert (done.returncode, done.stdout) == (1, "")
    assert words in done.stderr


def test_the_data_have_the_outputs_and_keys_of_the_configuration() -> None:
    configuration = (EXAMPLE / "hand-over.tf").read_text()
    assert set(re.findall(r'^output "(\w+)"', configuration, re.MULTILINE)) == set(OUTPUTS)
    pool = OUTPUTS["infiniband_pools"]["value"]["ndh100"]
    assert set(pool) - {"resource_id"} == set(re.findall(r"^      (\w+) +=", configuration, re.MULTILINE))
