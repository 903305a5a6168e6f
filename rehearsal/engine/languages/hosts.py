"""Language hosts beside Python's, generators of packages, and a Node.js program's packages: made once a machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from rehearsal.tools import cache
from rehearsal.tools.go import GoError, find_go

Language = Literal["yaml", "nodejs"]
PACKAGES: Final[Mapping[Language, str]] = {
    "yaml": "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    "nodejs": "github.com/pulumi/pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs",
}
"""The package of each host, of the module beside this file."""
GENERATED: Final = ("nodejs", "go")
"""The languages whose generator is in the engine's own module; .NET's and Java's have modules of their own."""
_HERE: Final = Path(__file__).parent
_LIMIT_SECONDS: Final = 540
"""Of a build: about a minute on two cores, and what they have to do beside it."""


class UnavailableError(Exception):
    """A host or a package cannot be had here. The message says why."""


def host(language: Language) -> Path:
    """The folder with the host of a language, for the engine's PATH; built if need be. Raises UnavailableError."""
    return _built(_HERE / language, PACKAGES[language], f"pulumi-language-{language}")


def generators() -> Path:
    """The folder with what generates packages in TypeScript and Go, for the PATH of `pulumi package gen-sdk`.

    Built if need be. Raises UnavailableError.
    """
    return _built(_HERE / "generators", ".", *(f"pulumi-language-{language}" for language in GENERATED))


def _built(module: Path, package: str, name: str, *other_names: str) -> Path:
    def build(draft: Path) -> None:
        work = draft / "work"
        work.mkdir()
        try:
            go = find_go(work)
        except GoError as error:
            raise UnavailableError(str(error)) from error
        places = {"GOMODCACHE": work / "modules", "GOCACHE": work / "cache", "GOTMPDIR": work}
        fixed = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-modcacherw"}
        flags = ["-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false -l", "-ldflags=-s -w"]
        environment = fixed | {name: str(path) for name, path in places.items()}
        _run([str(go), "build", *flags, "-o", str(draft / name), package], cwd=module, more=environment)
        for other in other_names:
            (draft / other).symlink_to(name)
        shutil.rmtree(work)

    return _once(_made_for("language", module / "go.mod", module / "go.sum", *module.glob("*.go")), build)


def node_modules(program: Path) -> Path:
    """The packages that the lock file of a Node.js program names; installed if need be. Raises UnavailableError."""
    files = [program / "package.json", program / "package-lock.json"]

    def install(draft: Path) -> None:
        for file in files:
            shutil.copy(file, draft)
        _run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=draft, more={})

    return _once(_made_for("node", *files), install) / "node_modules"


def _made_for(kind: str, *files: Path) -> Path:
    """The folder of the cache whose name changes with the files."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return cache.root() / f"{kind}-{digest.hexdigest()[:20]}"


def _once(folder: Path, make: Callable[[Path], None]) -> Path:
    try:
        cache.own(cache.root())
    except (cache.CacheError, OSError) as error:
        raise UnavailableError(str(error)) from error
    with cache.alone(folder):
        if not folder.exists():
            draft = folder.with_suffix(".draft")
            shutil.rmtree(draft, ignore_errors=True)
            draft.mkdir()
            make(draft)
            draft.rename(folder)
    return folder


def _run(command: Sequence[str], *, cwd: Path, more: Mapping[str, str]) -> None:
    try:
        ended = subprocess.run(
            command, cwd=cwd, env=os.environ | more, capture_output=True, text=True, check=False,
            timeout=_LIMIT_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"`{command[0]}`: {error}") from error
    if ended.returncode:
        last = "\n".join(ended.stderr.splitlines()[-5:])
        raise UnavailableError(f"`{' '.join(command[:2])}` ended with exit status {ended.returncode}:\n{last}")
