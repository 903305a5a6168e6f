"""The programs of earlier releases, from their commits."""

import subprocess
import tarfile
from io import BytesIO
from pathlib import Path
from typing import Final

from rehearsal.tools.paths import PROJECT

_RELEASES: Final = PROJECT / "tests" / "releases"
_PARTS: Final = ("__main__.py", "Pulumi.yaml", "Pulumi.dev.yaml", "values", "components", "command_line")
_LIBRARY_FIRST: Final = "import sys\n\nsys.path[:0] = {folders!r}\n"
"""Put before the program of a release: the library and command line of that release, not today's that are installed."""


def released_versions() -> list[str]:
    """The releases whose deployments an update keeps (docs/releases.md), the oldest first."""
    return sorted((path.name for path in _RELEASES.glob("[0-9]*")), key=lambda name: [*map(int, name.split("."))])


def project_of(version: str, folder: Path) -> Path:
    """The project as a release had it, in a folder. The release is the commit that gave the changelog its version."""
    wrote = ["log", "-S", f"## [{version}]", "--format=%H", "--reverse", "--", "CHANGELOG.md"]
    commits = _git(*wrote).decode().split()
    assert commits, f"the commit of {version} is not here: fetch the whole history (git fetch --unshallow)"
    folder.mkdir()
    with tarfile.open(fileobj=BytesIO(_git("archive", commits[0], *_PARTS))) as archive:
        archive.extractall(folder, filter="data")
    library = [str(folder / part) for part in ("components", "command_line")]
    program = folder / "__main__.py"
    program.write_text(_LIBRARY_FIRST.format(folders=library) + program.read_text())
    return folder


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(PROJECT), *arguments], capture_output=True, check=True).stdout
