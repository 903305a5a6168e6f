"""The folder that holds the built programs, shared by every checkout of a machine.

Its name comes from everything that decides what is built (`key`), so checkouts with the same pins share one, and others
have another. A build fills a draft next to it, and gives it its name when it is complete: a folder with the name is
whole.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import platform
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from rehearsal.tools.pins import MODULES, PROJECT, SOURCES

VARIABLE = "AKS_INFINIBAND_TOOLS_CACHE"
"""The setting: another folder, or "off" for one in the checkout."""
MANIFEST = "manifest.json"
_DECIDING = ("pins.py", "recipes.py", "overlay.py", "left_out.py", "doors.py")
"""In addition to the Go modules, the files here that decide what is built."""


class CacheError(Exception):
    """The cache is not to be trusted. The message says why."""


def root() -> Path:
    """The folder with one folder for each key."""
    setting = os.environ.get(VARIABLE, "")
    if setting == "off":
        return PROJECT / ".tools"
    if setting:
        return Path(setting).expanduser().absolute()
    own = os.environ.get("XDG_CACHE_HOME", "")
    try:
        caches = Path(own) if Path(own).is_absolute() else Path("~/.cache").expanduser()
    except RuntimeError:  # the home of this user is unknown
        return PROJECT / ".tools"
    return caches / "aks-infiniband" / "tools"


def folder() -> Path:
    """The folder of this checkout's programs, which may not exist yet."""
    return root() / key(SOURCES)


@cache
def key(sources: Path) -> str:
    """A digest of everything that decides what is built: pins, our own Go files, recipes, Go's version, platform."""
    digest = hashlib.sha256(f"{platform.system()} {platform.machine()}\0".encode())
    trees = [path for name in (*MODULES, "left-out", "doors") for path in (sources / name).rglob("*") if path.is_file()]
    for path in sorted([*trees, *(sources / name for name in _DECIDING)]):
        digest.update(f"{path.relative_to(sources)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def distrust(path: Path) -> str | None:
    """Why programs in a folder must not be run: someone else's, or others may write to it. None if they may."""
    facts = path.stat()
    if facts.st_uid != os.getuid():
        return f"{path} belongs to user {facts.st_uid}, not to {os.getuid()}"
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"others may write to {path}: chmod go-w {path}"
    return None


def own(path: Path) -> None:
    """Makes a folder that only this user may write to. Raises CacheError if there is another."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    reason = distrust(path)
    if reason:
        raise CacheError(f"{reason}\n{VARIABLE}=folder puts the tools elsewhere, {VARIABLE}=off into the checkout.")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Waits for another build of the same programs to end, be it this checkout's or another's."""
    with path.with_suffix(".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("tools: another build is running; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def complete(path: Path) -> bool:
    """True if a folder holds unchanged what its manifest lists, and no other user can write to it."""
    try:
        listed = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"]
        return not (distrust(path.parent) or distrust(path)) and all(
            _is_as_built(path / name, facts) for name, facts in listed.items()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def write_manifest(path: Path, *, go: str) -> None:
    """Lists what a folder holds, with digests. Written last: a folder without it is half built."""
    files = {str(file.relative_to(path)): _facts(file) for file in sorted(path.rglob("*")) if not file.is_dir()}
    draft = path / f".{MANIFEST}"
    draft.write_text(json.dumps({"go": go, "files": files}, indent=1) + "\n", encoding="utf-8")
    draft.replace(path / MANIFEST)


def _facts(file: Path) -> dict[str, object]:
    if file.is_symlink():
        return {"link": str(file.readlink())}
    facts = file.stat()
    return {"size": facts.st_size, "modified": facts.st_mtime_ns, "sha256": digest(file)}


def _is_as_built(file: Path, listed: dict[str, object]) -> bool:
    """A file of the same size and time is taken for the same; reading all of them would take half a second."""
    if "link" in listed:
        return file.is_symlink() and str(file.readlink()) == listed["link"] and file.exists()
    facts = file.stat()
    if facts.st_size != listed["size"]:
        return False
    return facts.st_mtime_ns == listed["modified"] or digest(file) == listed["sha256"]


def digest(file: Path) -> str:
    """The SHA-256 of a file, in hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
