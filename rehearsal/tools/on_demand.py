"""Programs that only some rehearsals need: built, or installed, at the first request, and kept once a machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rehearsal.tools import cache
from rehearsal.tools.go import GoError, find_go

_LIMIT_SECONDS: Final = 1200
"""Limit of one command: the longest build takes a minute or two on two cores, and they may have other work."""
_FLAGS: Final = ("-mod=readonly", "-trimpath", "-gcflags=all=-dwarf=false -l", "-ldflags=-s -w")


class UnavailableError(Exception):
    """Something cannot be had here. The message says why."""


def built(
    kind: str,
    module: Path,
    programs: Mapping[str, str],
    *,
    sources: Mapping[str, str] | None = None,
    links: Mapping[str, str] | None = None,
) -> Path:
    """The folder with programs of a Go module; built if need be.

    kind: the beginning of its folder's name. module: the folder of go.mod. programs: the package of each. sources: by
    name, a folder of a module that they are built of (MODULE//FOLDER), kept next to them. links: further names of
    programs. Raises UnavailableError.
    """

    def build(draft: Path) -> None:
        work = draft / "work"
        work.mkdir()
        go = found_go(work)
        places = {"GOMODCACHE": work / "modules", "GOCACHE": work / "cache", "GOTMPDIR": work}
        fixed = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off", "GOFLAGS": "-modcacherw"}
        environment = fixed | {name: str(path) for name, path in places.items()}
        for name, package in programs.items():
            run([str(go), "build", *_FLAGS, "-o", str(draft / name), package], cwd=module, more=environment)
        for name, place in (sources or {}).items():
            path, _, folder = place.partition("//")
            listing = [str(go), "list", "-mod=readonly", "-m", "-f", "{{.Dir}}", path]
            shutil.copytree(Path(run(listing, cwd=module, more=environment).strip()) / folder, draft / name)
        for name, program in (links or {}).items():
            (draft / name).symlink_to(program)
        shutil.rmtree(work)

    wanted = repr((sorted(programs.items()), sorted((sources or {}).items()), sorted((links or {}).items())))
    return once(made_for(kind, module / "go.mod", module / "go.sum", *module.glob("*.go"), wanted=wanted), build)


def found_go(work: Path) -> Path:
    """The `go` to build with; installed into a work folder if need be. Raises UnavailableError."""
    try:
        return find_go(work)
    except GoError as error:
        raise UnavailableError(str(error)) from error


def made_for(kind: str, *files: Path, wanted: str = "") -> Path:
    """The folder of the cache whose name changes with the files, and with what is wanted of them."""
    digest = hashlib.sha256(wanted.encode())
    for file in files:
        digest.update(file.read_bytes())
    return cache.root() / f"{kind}-{digest.hexdigest()[:20]}"


def once(folder: Path, make: Callable[[Path], None]) -> Path:
    """The folder, made in a draft next to it if it is not there. Raises UnavailableError."""
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


def run(command: Sequence[str], *, cwd: Path, more: Mapping[str, str]) -> str:
    """The output of a command. more: variables in addition to this process's. Raises UnavailableError if it fails."""
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
    return ended.stdout
