"""What the programs are built with: a door before every port of Pulumi's engine, language host and providers.

Pulumi's own listeners answer every user of this computer. They have no setting for that, and take no secret; so the
door (doors/own_user.go) is built into the functions with which all of them serve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rehearsal.tools.pins import PULUMI_SDK, SOURCES, PinError

_DOOR: Final = SOURCES / "doors/own_user.go"


@dataclass(frozen=True, kw_only=True)
class Served:
    """A place in Pulumi's SDK that serves on a port.

    without: its words, which the file has once. opened: those that take its place.
    """

    programs: tuple[str, ...]
    package: str
    file: str
    without: str
    opened: str


SERVED: Final = (
    # What all of them call: resource monitor, language host, providers, loader of schemas, …
    Served(
        programs=("pulumi", "kubernetes-provider", "python"),
        package="go/common/util/rpcutil",
        file="serve.go",
        without="srv.Serve(lis)",
        opened="srv.Serve(ownUserOnly(lis))",
    ),
    # Where the engine takes the logs of what it starts.
    Served(
        programs=("pulumi",),
        package="go/common/util/otelreceiver",
        file="receiver.go",
        without="r.server.Serve(listener)",
        opened="r.server.Serve(ownUserOnly(listener))",
    ),
)


def packages(program: str) -> dict[str, str]:
    """The module of a program that gets doors, and a package of it, by which Go finds it."""
    places = [place for place in SERVED if program in place.programs]
    return {PULUMI_SDK: f"{PULUMI_SDK}/{places[0].package}"} if places else {}


def replaced(program: str, modules: Mapping[str, Path], folder: Path) -> dict[str, str]:
    """The files of a program's modules that are others here: path -> what is there instead.

    modules: where each module is. folder: where changed files are written.
    Raises PinError where the pinned version does not serve as those before it: it would be built without a door.
    """
    files = {}
    for place in (place for place in SERVED if program in place.programs):
        package = modules[PULUMI_SDK] / place.package
        original = (package / place.file).read_text(encoding="utf-8")
        if original.count(place.without) != 1:
            raise PinError(f"{package / place.file} must have {place.without} once: see where Pulumi's SDK serves now")
        door = _DOOR.read_text(encoding="utf-8").replace("package rpcutil", f"package {package.name}")
        changed = {place.file: original.replace(place.without, place.opened), _DOOR.name: door}
        for name, text in changed.items():
            draft = folder / f"{package.name}_{name}"
            draft.write_text(text, encoding="utf-8")
            files[str(package / name)] = str(draft)
    return files
