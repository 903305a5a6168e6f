"""A Pulumi.yaml that no engine can use is refused before anything starts."""

from pathlib import Path

import pytest

from rehearsal.control_plane import RunFolder
from rehearsal.engine.project_file import ProjectFileError, read_project
from rehearsal.session import Rehearsal


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "Pulumi.yaml cannot be read: No such file"),
        ("name: [", "Pulumi.yaml"),
        ("- name", "must be a mapping with name and runtime"),
        ("runtime: python", "name must be a text, not None"),
        ("name: 7\nruntime: python", "name must be a text, not 7"),
        ("name: mine", "runtime must be a text, not None"),
        ("name: mine\nruntime: {options: {}}", "runtime must be a text, not None"),
        ("name: mine\nruntime: cobol", "runtime cobol, but PATH .* has no pulumi-language-cobol; it comes with"),
    ],
)
def test_its_mistake_is_told_before_anything_starts(tmp_path: Path, text: str | None, words: str) -> None:
    if text is not None:
        (tmp_path / "Pulumi.yaml").write_text(text)
    rehearsal = Rehearsal(project=tmp_path, stack="dev", run=RunFolder.at(tmp_path / "run"))
    with pytest.raises(ProjectFileError, match=words):
        rehearsal.check_files()


@pytest.mark.parametrize("runtime", ["python", "{name: python, options: {toolchain: pip}}"])
def test_python_needs_nothing_on_the_path(tmp_path: Path, runtime: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "Pulumi.yaml").write_text(f"name: mine\nruntime: {runtime}\n")
    read_project(tmp_path).require_host()
