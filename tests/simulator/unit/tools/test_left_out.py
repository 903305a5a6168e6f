"""The packages that the programs are built without, and the way to build without them."""

import json
from pathlib import Path

import pytest

from rehearsal.tools.doors import SERVED
from rehearsal.tools.left_out import LEFT_OUT, STAND_INS, LeftOut
from rehearsal.tools.overlay import prepare
from rehearsal.tools.pins import SOURCES, requirements


@pytest.mark.parametrize("entry", LEFT_OUT, ids=lambda entry: f"{entry.module}/{entry.package}")
def test_what_is_left_out_is_of_a_module_that_is_pinned(entry: LeftOut) -> None:
    assert entry.module in requirements(SOURCES / entry.program / "go.mod")


def test_every_stand_in_is_used() -> None:
    of_packages = {path.relative_to(STAND_INS).as_posix() for path in STAND_INS.glob("*/*.go")}
    whole_modules = {f"{path.parent.name}/" for path in STAND_INS.glob("*/go.mod")}
    used = {entry.stand_in for entry in LEFT_OUT if entry.stand_in}
    assert used == {path for path in of_packages if not path.startswith(tuple(whole_modules))}
    named = "".join((SOURCES / program / "go.mod").read_text() for program in ("pulumi", "kubernetes-provider"))
    assert all(f"=> ../left-out/{name.rstrip('/')}\n" in named for name in whole_modules)


def test_a_package_goes_and_ours_comes(tmp_path: Path) -> None:
    module = tmp_path / "module"
    for entry in LEFT_OUT:
        (module / entry.package).mkdir(parents=True, exist_ok=True)
        for name in ("gone.go", *entry.keep):
            (module / entry.package / name).write_text("package p\n")
    for place in SERVED:
        (module / place.package).mkdir(parents=True)
        (module / place.package / place.file).write_text(place.without)
    flags = prepare("pulumi", tmp_path, lambda package: module)
    folder = tmp_path / "pulumi.overlay"
    assert flags == [f"-modfile={folder / 'go.mod'}", f"-overlay={folder / 'overlay.json'}"]
    replaced = json.loads((folder / "overlay.json").read_text())["Replace"]
    backend = folder / "gocloud.dev" / "blob" / "s3blob"
    assert replaced[str(backend / "gone.go")] == ""
    assert replaced[str(backend / "left_out.go")] == str(STAND_INS / "pulumi" / "s3blob.go")
    logs = folder / "github.com_pulumi_pulumi_pkg_v3" / "operations"
    assert str(logs / "gone.go") in replaced
    assert str(logs / "resources.go") not in replaced
    assert f"\nreplace gocloud.dev => {folder / 'gocloud.dev'}\n" in (folder / "go.mod").read_text()
    assert (folder / "go.sum").read_text() == (SOURCES / "pulumi" / "go.sum").read_text()


def test_a_program_that_is_built_whole_needs_no_flags(tmp_path: Path) -> None:
    assert prepare("another", tmp_path, lambda package: tmp_path) == []
