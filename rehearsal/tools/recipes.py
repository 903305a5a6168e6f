"""What is built from what, and how each result is put in its place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.tools import pins
from rehearsal.tools.pins import SOURCES

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

Install = Callable[[Path, Path, Callable[[str], Path]], None]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One program: a package of one of the modules beside this file, and where it goes.

    install: puts the built file in its place; given the file, the folder of the tools, and a function from a package's
    path to the source of its module.
    outputs: the files that make it, within the folder of the tools.
    """

    name: str
    module: str
    package: str
    install: Install
    outputs: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Go variables that the linker sets: programs do not know their versions otherwise."""

    @property
    def source(self) -> Path:
        return SOURCES / self.module

    @property
    def link_flags(self) -> str:
        return " ".join([STRIP, *(f"-X {name}={value}" for name, value in sorted(self.variables.items()))])

    def is_built(self, tools: Path) -> bool:
        """Whether the program is in place: each output is put there in one step, the main one last."""
        return all((tools / output).exists() for output in self.outputs)


def recipes() -> tuple[Recipe, ...]:
    """All programs."""
    return (_control_plane(), _kubernetes_provider(), _command_line(), _python_host())


def place(built: Path, target: Path) -> None:
    """Moves a file to its place in one step, so that a half-done build is never taken for done."""
    target.parent.mkdir(parents=True, exist_ok=True)
    built.chmod(0o755)
    built.replace(target)


def _control_plane() -> Recipe:
    version = pins.version("kubernetes", pins.KUBERNETES)
    major, minor, _ = version.removeprefix("v").split(".")
    package = "k8s.io/component-base/version"

    def install(built: Path, tools: Path, _: Callable[[str], Path]) -> None:
        place(built, tools / "bin/kubernetes")
        for name in CONTROL_PLANE:
            (tools / "bin" / name).unlink(missing_ok=True)
            (tools / "bin" / name).symlink_to("kubernetes")

    return Recipe(
        name="kubernetes",
        module="kubernetes",
        package=".",
        install=install,
        outputs=("bin/kubernetes", *(f"bin/{name}" for name in CONTROL_PLANE)),
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
        install=lambda built, tools, _: place(built, tools / "bin/pulumi"),
        outputs=("bin/pulumi",),
        variables={f"{pins.PULUMI_SDK}/go/common/version.Version": pins.version("pulumi", pins.PULUMI)},
    )


def _kubernetes_provider() -> Recipe:
    version = pins.kubernetes_provider_version()
    plugin = f"plugins/resource-kubernetes-v{version}"

    def install(built: Path, tools: Path, source: Callable[[str], Path]) -> None:
        data = source(f"{pins.KUBERNETES_PROVIDER}/pkg/provider") / "cmd" / "pulumi-resource-kubernetes"
        draft = tools / "provider.draft"
        shutil.rmtree(draft, ignore_errors=True)
        place(built, draft / "pulumi-resource-kubernetes")
        schema = json.loads((data / "schema.json").read_text(encoding="utf-8"))
        mapping = json.loads((data / "terraform-mapping.json").read_text(encoding="utf-8"))
        _write_json(draft / "schema.json", schema | {"version": version})
        _write_json(draft / "terraform-mapping.json", mapping)
        (tools / plugin).parent.mkdir(exist_ok=True)
        draft.rename(tools / plugin)

    return Recipe(
        name="pulumi-resource-kubernetes",
        module="kubernetes-provider",
        package=".",
        install=install,
        outputs=(f"{plugin}/pulumi-resource-kubernetes", f"{plugin}/schema.json", f"{plugin}/terraform-mapping.json"),
        variables={f"{pins.KUBERNETES_PROVIDER}/pkg/version.Version": version},
    )


def _python_host() -> Recipe:
    package = f"{pins.PULUMI_SDK}/python/cmd"
    script = "pulumi-language-python-exec"

    def install(built: Path, tools: Path, source: Callable[[str], Path]) -> None:
        draft = tools / f"{script}.draft"
        shutil.copyfile(source(f"{package}/pulumi-language-python") / "python" / "cmd" / script, draft)
        place(draft, tools / "bin" / script)
        place(built, tools / "bin/pulumi-language-python")

    return Recipe(
        name="pulumi-language-python",
        module="python",
        package=f"{package}/pulumi-language-python",
        install=install,
        outputs=("bin/pulumi-language-python", f"bin/{script}"),
        variables={f"{pins.PULUMI_SDK}/go/common/version.Version": pins.version("python", pins.PULUMI_SDK)},
    )


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
