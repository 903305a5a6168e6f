"""The door that is built into Pulumi's programs: its place, and the proof that no version is built without it."""

import json
from pathlib import Path

import pytest

from rehearsal.tools.doors import SERVED
from rehearsal.tools.overlay import prepare
from rehearsal.tools.pins import PULUMI_SDK, SOURCES, PinError, requirements


@pytest.fixture(name="sdk")
def _sdk(tmp_path: Path) -> Path:
    """Pulumi's SDK, in small."""
    for place in SERVED:
        (tmp_path / "sdk" / place.package).mkdir(parents=True)
        (tmp_path / "sdk" / place.package / place.file).write_text(f"err := {place.without}\n")
    return tmp_path / "sdk"


def test_every_program_that_serves_gets_a_door(sdk: Path, tmp_path: Path) -> None:
    flags = prepare("python", tmp_path, lambda package: sdk)
    folder = tmp_path / "python.overlay"
    assert flags == [f"-modfile={folder / 'go.mod'}", f"-overlay={folder / 'overlay.json'}"]
    replaced = json.loads((folder / "overlay.json").read_text())["Replace"]
    package = folder / "github.com_pulumi_pulumi_sdk_v3" / "go/common/util/rpcutil"
    assert Path(replaced[str(package / "serve.go")]).read_text() == "err := srv.Serve(ownUserOnly(lis))\n"
    assert "\npackage rpcutil\n" in Path(replaced[str(package / "own_user.go")]).read_text()


def test_the_programs_with_doors_are_all_that_use_pulumis_sdk() -> None:
    users = {file.parent.name for file in SOURCES.glob("*/go.mod") if PULUMI_SDK in requirements(file)}
    assert {program for place in SERVED for program in place.programs} == users == set(SERVED[0].programs)


def test_a_version_that_serves_in_another_way_is_not_built_without_a_door(sdk: Path, tmp_path: Path) -> None:
    (sdk / SERVED[0].package / SERVED[0].file).write_text("err := srv.ServeOn(lis)\n")
    with pytest.raises(PinError, match=r"serve\.go must have srv\.Serve\(lis\) once"):
        prepare("python", tmp_path, lambda package: sdk)
