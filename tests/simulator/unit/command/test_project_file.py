"""A Pulumi.yaml that no engine can use is refused before anything starts."""

from pathlib import Path

import pytest

from rehearsal.control_plane import RunFolder
from rehearsal.engine.project_file import ProjectFileError, read_project
from rehearsal.session import Rehearsal


def test_a_language_without_a_host_is_named_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "Pulumi.yaml").write_text("name: mine\nruntime: cobol")
    rehearsal = Rehearsal(project=tmp_path, stack="dev", run=RunFolder.at(tmp_path / "run"))
    with pytest.raises(ProjectFileError, match=r"runtime cobol, but PATH .* has no pulumi-language-cobol; it"):
        rehearsal.check_files()


@pytest.mark.parametrize("runtime", ["python", "{name: python, options: {toolchain: pip}}"])
def test_python_needs_nothing_on_the_path(tmp_path: Path, runtime: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    (tmp_path / "Pulumi.yaml").write_text(f"name: mine\nruntime: {runtime}\n")
    read_project(tmp_path).require_host()
