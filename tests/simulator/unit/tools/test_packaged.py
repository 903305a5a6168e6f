"""Programs that a release has built are taken in place of a build, if they are the very ones that are wanted."""

import json
from pathlib import Path
from typing import Final

import pytest

from rehearsal.tools import build, cache, packaged

KEY: Final = "0123456789abcdef0123"
PROGRAM: Final = "bin/engine"


@pytest.fixture(name="installed")
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package that a release has made of a folder of programs, as it is installed."""
    built = tmp_path / "cache" / KEY
    (built / "bin").mkdir(parents=True)
    (built / PROGRAM).write_text("#!/bin/sh\necho engine\n")
    (built / PROGRAM).chmod(0o755)
    (built / "bin" / "also").symlink_to("engine")
    cache.write_manifest(built, go="go version go1.26.8 linux/amd64")
    monkeypatch.setattr(cache, "folder", lambda: built)
    monkeypatch.setattr(cache, "key", lambda _: KEY)
    packaged.lay_out(tmp_path / "wheel")
    return tmp_path / "wheel" / packaged.PACKAGE


def test_the_same_programs_come_out_with_links_and_modes(installed: Path, tmp_path: Path) -> None:
    draft = tmp_path / "draft"
    draft.mkdir(mode=0o700)
    assert packaged.take(installed, draft, KEY) is None
    assert cache.complete(draft)
    assert (draft / PROGRAM).stat().st_mode & 0o777 == 0o755
    assert (draft / "bin" / "also").readlink() == Path("engine")


def test_programs_of_other_pins_are_not_taken(installed: Path, tmp_path: Path) -> None:
    refused = packaged.take(installed, tmp_path / "draft", "another")
    assert refused
    assert "other pins or another platform" in refused
    assert not (tmp_path / "draft").exists()


def test_a_program_that_was_changed_is_not_taken_and_nothing_of_it_stays(installed: Path, tmp_path: Path) -> None:
    (installed / "programs" / PROGRAM).write_text("#!/bin/sh\necho another\n")
    refused = packaged.take(installed, tmp_path / "draft", KEY)
    assert refused
    assert "is not as the release has built it" in refused
    assert not (tmp_path / "draft").exists()


@pytest.mark.parametrize("key", [KEY, "another"])
def test_what_cannot_be_taken_is_built(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    wanted = tmp_path / "elsewhere" / key
    monkeypatch.setattr(cache, "folder", lambda: wanted)
    monkeypatch.setattr(packaged, "found", lambda: installed)
    monkeypatch.setattr(build, "_build_into", lambda folder: folder.mkdir())
    build.build()
    said = capsys.readouterr().out
    if key == KEY:
        assert "tools: taken from aks-infiniband-rehearsal-tools" in said
        assert cache.complete(wanted)
    else:
        assert "other pins or another platform; building them" in said
        assert list(wanted.iterdir()) == []


def test_the_manifest_of_the_package_names_every_program_by_its_hash(installed: Path) -> None:
    files = json.loads((installed / cache.MANIFEST).read_text())["files"]
    assert files[PROGRAM] == {"sha256": cache.digest(installed / "programs" / PROGRAM), "mode": 0o755}
    assert files["bin/also"] == {"link": "engine"}
