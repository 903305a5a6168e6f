"""What is built from what, and how each result is put in its place."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.tools import pins
from rehearsal.tools.paths import BIN, PLUGINS, SOURCES, TOOLS

STAMPS = TOOLS / "stamps"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
FLAGS = (
    "-mod=readonly",
    "-modcacherw",  # the module cache is deleted after the build
    "-trimpath",
    "-v",  # names each package when it is compiled, which the progress line counts
    # Nobody debugs these programs, and they wait for most of their lives: without data for debuggers and without
    # inlining they are compiled in two thirds of the time. Go's own packages (cryptography, …) stay as they are.
    "-gcflags=all=-dwarf=false -l",
    "-gcflags=std=-dwarf=false",
)
STRIP = "-s -w"

Install = Callable[[Path, Callable[[str], Path]], None]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One program: a package of one of the modules beside this file, and where it goes.

    install: puts the built file in its place; given the file, and a function from a module's path to its source.
    outputs: what must be there for the program to count as built.
    """

    name: str
    module: str
    package: str
    install: Install
    outputs: tuple[Path, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Go variables that the linker sets: programs do not know their versions otherwise."""

    @property
    def source(self) -> Path:
        return SOURCES / self.module

    @property
    def link_flags(self) -> str:
        return " ".join([STRIP, *(f"-X {name}={value}" for name, value in sorted(self.variables.items()))])

    @property
    def stamp(self) -> Path:
        return STAMPS / self.name

    def fingerprint(self) -> str:
        """Of everything that decides the result: the module's files, the package, the flags."""
        digest = hashlib.sha256()
        for path in sorted(path for path in self.source.rglob("*") if path.is_file()):
            digest.update(f"{path.relative_to(self.source)}\0".encode())
            digest.update(path.read_bytes() + b"\0")
        digest.update(
            "\0".join([self.package, *FLAGS, self.link_flags, *(output.name for output in self.outputs)]).encode()
        )
        return digest.hexdigest()

    def is_built(self) -> bool:
        """Whether the program is in place, from these very pins and flags."""
        if not self.stamp.exists() or not all(output.exists() for output in self.outputs):
            return False
        return self.stamp.read_text(encoding="utf-8").strip() == self.fingerprint()

    def mark_built(self) -> None:
        STAMPS.mkdir(parents=True, exist_ok=True)
        self.stamp.write_text(self.fingerprint() + "\n", encoding="utf-8")


def recipes() -> tuple[Recipe, ...]:
    """All programs."""
    return (_control_plane(), _kubernetes_provider(), _command_line(), _python_host())


def _place(built: Path, target: Path) -> None:
    """Moves a file to its place in one step, so that a half-done build is never taken for done."""
    target.parent.mkdir(parents=True, exist_ok=True)
    built.chmod(0o755)
    built.replace(target)


def _control_plane() -> Recipe:
    version = pins.version("kubernetes", pins.KUBERNETES)
    major, minor, _ = version.removeprefix("v").split(".")
    package = "k8s.io/component-base/version"

    def install(built: Path, _: Callable[[str], Path]) -> None:
        _place(built, BIN / "kubernetes")
        for name in CONTROL_PLANE:
            (BIN / name).unlink(missing_ok=True)
            (BIN / name).symlink_to("kubernetes")

    return Recipe(
        name="kubernetes",
        module="kubernetes",
        package=".",
        install=install,
        outputs=(BIN / "kubernetes", *(BIN / name for name in CONTROL_PLANE)),
        variables={
            # without these, clients cannot parse what the server says of itself
            f"{package}.gitVersion": version,
            f"{package}.gitMajor": major,
            f"{package}.gitMinor": minor,
        },
    )


def _command_line() -> Recipe:
    return Recipe(
        name="pulumi",
        module="pulumi",
        package=f"{pins.PULUMI}/cmd/pulumi",
        install=lambda built, _: _place(built, BIN / "pulumi"),
        outputs=(BIN / "pulumi",),
        variables={f"{pins.PULUMI_SDK}/go/common/version.Version": pins.version("pulumi", pins.PULUMI)},
    )


def _kubernetes_provider() -> Recipe:
    version = pins.kubernetes_provider_version()
    folder = PLUGINS / f"resource-kubernetes-v{version}"

    def install(built: Path, source: Callable[[str], Path]) -> None:
        data = source(pins.KUBERNETES_PROVIDER) / "cmd" / "pulumi-resource-kubernetes"
        draft = PLUGINS / f".{folder.name}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        _place(built, draft / "pulumi-resource-kubernetes")
        schema = json.loads((data / "schema.json").read_text(encoding="utf-8"))
        mapping = json.loads((data / "terraform-mapping.json").read_text(encoding="utf-8"))
        _write_json(draft / "schema.json", schema | {"version": version})
        _write_json(draft / "terraform-mapping.json", mapping)
        for earlier in PLUGINS.glob("resource-kubernetes-v*"):
            shutil.rmtree(earlier)
        draft.rename(folder)

    return Recipe(
        name="pulumi-resource-kubernetes",
        module="kubernetes-provider",
        package=".",
        install=install,
        outputs=(folder / "pulumi-resource-kubernetes", folder / "schema.json", folder / "terraform-mapping.json"),
        variables={f"{pins.KUBERNETES_PROVIDER}/pkg/version.Version": version},
    )


def _python_host() -> Recipe:
    package = f"{pins.PULUMI_SDK}/python/cmd"
    script = "pulumi-language-python-exec"

    def install(built: Path, source: Callable[[str], Path]) -> None:
        draft = BIN / f".{script}.draft"
        BIN.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source(pins.PULUMI_SDK) / "python" / "cmd" / script, draft)
        _place(draft, BIN / script)
        _place(built, BIN / "pulumi-language-python")

    return Recipe(
        name="pulumi-language-python",
        module="python",
        package=f"{package}/pulumi-language-python",
        install=install,
        outputs=(BIN / "pulumi-language-python", BIN / script),
        variables={f"{pins.PULUMI_SDK}/go/common/version.Version": pins.version("python", pins.PULUMI_SDK)},
    )


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
