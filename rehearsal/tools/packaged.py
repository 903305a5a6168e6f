"""The built programs as a distribution, `aks-infiniband-rehearsal-tools`: a release builds it, and other machines with
the same pins and platform take its programs in place of minutes of building.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from rehearsal.tools import cache
from rehearsal.tools.pins import SOURCES

PACKAGE = "aks_infiniband_rehearsal_tools"
_PROGRAMS = "programs"
"""Folder in the package."""
_RECIPE = SOURCES / "distribution"


def found() -> Path | None:
    """The folder of the installed distribution; None if there is none."""
    spec = find_spec(PACKAGE)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places))) if places else None


def take(installed: Path, draft: Path, key: str) -> str | None:
    """Copy its programs into a draft, each checked by its hash. Returns why that was not done; None if it was.

    key: of the programs that are wanted.
    """
    listed = json.loads((installed / cache.MANIFEST).read_text(encoding="utf-8"))
    if listed["key"] != key:
        return f"the installed {PACKAGE.replace('_', '-')} has the programs of other pins or another platform"
    for name, facts in listed["files"].items():
        target = draft / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if link := facts.get("link"):
            target.symlink_to(link)
            continue
        shutil.copyfile(installed / _PROGRAMS / name, target)
        target.chmod(facts["mode"])
        if cache.digest(target) != facts["sha256"]:
            shutil.rmtree(draft)
            return f"{installed / _PROGRAMS / name} is not as the release has built it"
    cache.write_manifest(draft, go=listed["go"])
    return None


def lay_out(folder: Path) -> None:
    """Lay out in a folder the sources of the distribution. Raises CacheError if the programs are not built."""
    built = cache.folder()
    if not cache.complete(built):
        raise cache.CacheError(f"{built} is not built: make tools")
    shutil.copytree(_RECIPE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    package = folder / PACKAGE
    package.mkdir()
    (package / "__init__.py").write_text('"""Programs that a rehearsal runs, as a release has built them."""\n')
    listed = json.loads((built / cache.MANIFEST).read_text(encoding="utf-8"))
    files: dict[str, dict[str, object]] = {}
    for name, facts in listed["files"].items():
        if "link" in facts:  # a wheel has none
            files[name] = facts
            continue
        target = package / _PROGRAMS / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(built / name, target)
        files[name] = {"sha256": facts["sha256"], "mode": (built / name).stat().st_mode & 0o777}
    manifest = {"key": cache.key(SOURCES), "go": listed["go"], "files": files}
    (package / cache.MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
