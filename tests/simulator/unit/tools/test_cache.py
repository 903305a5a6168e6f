"""The folder of the built programs, and the condition for using its content."""

import os
from pathlib import Path

import pytest

from rehearsal.tools import cache
from rehearsal.tools.pins import MODULES, PROJECT, SOURCES


@pytest.fixture(name="sources")
def _sources(tmp_path: Path) -> Path:
    """The files that decide the result, in small."""
    for name in (*MODULES, "left-out", "doors"):
        (tmp_path / "sources" / name).mkdir(parents=True)
    for name in (
        "pins.py",
        "recipes.py",
        "overlay.py",
        "left_out.py",
        "doors.py",
        *(f"{module}/go.mod" for module in MODULES),
    ):
        (tmp_path / "sources" / name).write_text(f"{name}\n")
    return tmp_path / "sources"


def _fresh_key(sources: Path) -> str:
    cache.key.cache_clear()
    return cache.key(sources)


@pytest.mark.parametrize(
    "changed",
    [
        "kubernetes/go.mod",
        "python/go.sum",
        "kubernetes/main.go",
        "left-out/pulumi/s3.go",
        "doors/own_user.go",
        "pins.py",
        "doors.py",
    ],
)
def test_whatever_decides_the_result_has_a_folder_of_its_own(sources: Path, changed: str) -> None:
    before = _fresh_key(sources)
    (sources / changed).parent.mkdir(exist_ok=True)
    (sources / changed).write_text("something else\n")
    assert _fresh_key(sources) != before


def test_a_file_under_another_name_is_a_change(sources: Path) -> None:
    before = _fresh_key(sources)
    (sources / "python" / "go.mod").rename(sources / "python" / "go.sum")
    assert _fresh_key(sources) != before


@pytest.mark.parametrize("fact", ["system", "machine"])
def test_another_platform_has_a_folder_of_its_own(sources: Path, monkeypatch: pytest.MonkeyPatch, fact: str) -> None:
    before = _fresh_key(sources)
    monkeypatch.setattr(f"platform.{fact}", lambda: "another")
    assert _fresh_key(sources) != before


def test_a_second_checkout_with_the_same_files_has_the_same_folder(sources: Path, tmp_path: Path) -> None:
    (tmp_path / "clone").mkdir()
    sources.rename(tmp_path / "clone" / "sources")
    (tmp_path / "sources").symlink_to(tmp_path / "clone" / "sources")
    assert _fresh_key(tmp_path / "clone" / "sources") == _fresh_key(sources)


def test_every_file_that_decides_exists() -> None:
    assert len(_fresh_key(SOURCES)) == 20


def test_the_cache_is_where_caches_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "aks-infiniband" / "tools" / cache.key(SOURCES)
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.root() == tmp_path / "home" / ".cache" / "aks-infiniband" / "tools"


def test_a_setting_moves_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "elsewhere"))
    assert cache.folder().parent == tmp_path / "elsewhere"


def test_a_setting_switches_the_cache_off_and_the_checkout_keeps_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, "off")
    assert cache.folder().parent == PROJECT / ".tools"


@pytest.fixture(name="built")
def _built(tmp_path: Path) -> Path:
    """A cache with what a build leaves behind."""
    folder = tmp_path / "tools" / "key"
    (folder / "bin").mkdir(mode=0o700, parents=True)
    (folder / "bin" / "kubernetes").write_text("program")
    (folder / "bin" / "etcd").symlink_to("kubernetes")
    for private in (folder.parent, folder):
        private.chmod(0o700)
    cache.write_manifest(folder, go="go version go1.26.6 linux/amd64")
    return folder


def test_what_was_built_is_used(built: Path) -> None:
    assert cache.complete(built)


@pytest.mark.parametrize("missing", [cache.MANIFEST, "bin/kubernetes", "bin/etcd", "."])
def test_a_half_built_cache_is_not_used(built: Path, missing: str) -> None:
    if missing == ".":
        built.rename(built.with_suffix(".draft"))
    else:
        (built / missing).unlink()
    assert not cache.complete(built)


@pytest.mark.parametrize("content", ["", "prog", "PROGRAM"])
def test_a_file_that_is_not_as_it_was_built_is_not_used(built: Path, content: str) -> None:
    (built / "bin" / "kubernetes").write_text(content)
    os.utime(built / "bin" / "kubernetes", ns=(1, 1))
    assert not cache.complete(built)


def test_a_copied_cache_is_used(built: Path) -> None:
    os.utime(built / "bin" / "kubernetes", ns=(1, 1))
    assert cache.complete(built)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"files": 1}', '{"files": {"bin/kubernetes": {}}}'])
def test_a_broken_manifest_is_not_believed(built: Path, manifest: str) -> None:
    (built / cache.MANIFEST).write_text(manifest)
    assert not cache.complete(built)


def test_somebody_elses_cache_is_not_used(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: owner + 1)
    assert not cache.complete(built)
    assert f"belongs to user {owner}, not to {owner + 1}" in (cache.distrust(built) or "")


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("part", ["tools", "tools/key"])
def test_a_cache_that_others_may_write_to_is_not_used(built: Path, tmp_path: Path, part: str, mode: int) -> None:
    (tmp_path / part).chmod(mode)
    assert not cache.complete(built)
    assert f"chmod go-w {tmp_path / part}" in (cache.distrust(tmp_path / part) or "")


def test_a_user_whose_home_nobody_knows_has_the_tools_in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    for name in ("HOME", "XDG_CACHE_HOME", cache.VARIABLE):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    assert cache.root() == PROJECT / ".tools"
