"""The arguments that `make` hands on to the commands."""

import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ["my faults.yaml", "it's.yaml", "$HOME;`x`.yaml"])
def test_a_file_keeps_its_name_whatever_is_in_it(name: str) -> None:
    values = [f"{variable}={name.replace('$', '$$')}" for variable in ("FAULTS", "SUBSCRIPTION", "CHARTS")]
    done = subprocess.run(
        ["make", "--dry-run", "rehearse", "STACK=dev", *values], cwd=ROOT, capture_output=True, text=True, check=True
    )
    (line,) = [part for part in done.stdout.replace("\\\n", " ").splitlines() if "-m rehearsal up" in part]
    words = shlex.split(line)
    assert words[words.index("up") + 1] == "dev"
    assert [words[words.index(option) + 1] for option in ("--faults", "--subscription", "--charts")] == [name] * 3
