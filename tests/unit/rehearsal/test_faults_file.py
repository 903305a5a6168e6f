"""What a person says is wrong with the simulated machines: read, and refused, before anything starts."""

from pathlib import Path

import pytest
import yaml

from rehearsal.control_plane import RunFolder
from rehearsal.faults import machine_faults
from rehearsal.session import Rehearsal
from rehearsal.tools.paths import PROJECT
from tests.snippets import snippets


def rehearsal(folder: Path, text: str | None) -> Rehearsal:
    file = folder / "faults.yaml"
    if text is not None:
        file.write_text(text)
    return Rehearsal(project=PROJECT, stack="dev", run=RunFolder.at(folder / "run"), faults=file)


def test_the_faults_of_the_rehearsals_page_are_known() -> None:
    (example,) = snippets("rehearsal.md", "yaml")
    assert len(machine_faults.checked(yaml.safe_load(example), "rehearsal.md")) == 3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {fault: link-donw}", "'link-donw' is no fault; there are link-down, "),
        ("fault: link-down", "must be a list of mappings"),
        ("- [", "faults.yaml: "),
        (None, "faults.yaml: "),
    ],
)
def test_a_file_that_says_nothing_known_is_refused_before_anything_starts(
    tmp_path: Path, text: str | None, said: str
) -> None:
    with pytest.raises(machine_faults.FaultsError) as refused, rehearsal(tmp_path, text).data_centre():
        pass
    assert said in str(refused.value)
    assert not (tmp_path / "run").exists()
