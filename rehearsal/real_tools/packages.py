"""Has apt download the virtual machine's packages from the machine's own mirror, unpacks them and keeps them."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

_LIST = Path(__file__).with_name("packages.txt")
_APT_HELPER = Path("/usr/lib/apt/apt-helper")
_DOWNLOAD_SECONDS = 600
GROUPS = ("host", "guest", "headers", "later")


class UnavailableError(Exception):
    """The virtual machine cannot be made here. The message says why."""


class Package(NamedTuple):
    """One line of packages.txt."""

    groups: frozenset[str]
    sha256: str
    path: str


def packages() -> list[Package]:
    """All of them."""
    lines = [line.split() for line in _LIST.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return [Package(frozenset(groups.split(",")), sha256, path) for groups, sha256, path in lines]


def unpack(folder: Path) -> None:
    """Download the packages, and unpack each group into a folder of its name. Raises UnavailableError."""
    if (system := f"{platform.system()} {platform.machine()}") != "Linux x86_64":
        raise UnavailableError(f"the packages are for Linux x86_64, and this is {system}")
    if not _APT_HELPER.exists() or not shutil.which("dpkg"):
        raise UnavailableError("this machine lacks apt and dpkg, which download and unpack Debian's packages")
    downloads = folder / "packages"
    downloads.mkdir(parents=True)
    _download(packages(), _mirror(), downloads)
    for package in packages():
        for group in package.groups:
            _run(["dpkg", "--extract", str(downloads / Path(package.path).name), str(folder / group)])
    shutil.rmtree(downloads)


def _mirror() -> str:
    """The source of Debian's packages on this machine."""
    said = _run(["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian", "Created-By: Packages"])
    mirrors = [uri.rstrip("/") for uri in dict.fromkeys(said.split()) if not uri.rstrip("/").endswith("-security")]
    if not mirrors:
        raise UnavailableError("apt lacks the list of Debian's packages here: apt-get update, on Debian")
    return mirrors[0]


def _download(wanted: Sequence[Package], mirror: str, folder: Path) -> None:
    """Download all files at once: apt compares the digests, and calls the mirror over few connections."""
    each = [
        (f"{mirror}/{package.path}", str(folder / Path(package.path).name), f"SHA256:{package.sha256}")
        for package in wanted
    ]
    _run([str(_APT_HELPER), "download-file", *(word for three in each for word in three)])


def _run(command: Sequence[str]) -> str:
    """The output of a command. Raises UnavailableError with its complaint."""
    try:
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=_DOWNLOAD_SECONDS, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"{command[0]} did not end within {_DOWNLOAD_SECONDS} s") from None
    if ended.returncode:
        complaint = next((line for line in ended.stderr.splitlines() if line.startswith("E:")), ended.stderr.strip())
        raise UnavailableError(f"{Path(command[0]).name} failed: {complaint}")
    return ended.stdout
