"""Go's `-overlay`: how files of our own get into the modules that a program is built from.

Go refuses to overlay its module cache, so each module is reached through a link beside it, which a copy of the
program's go.mod names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from rehearsal.tools import doors, left_out
from rehearsal.tools.pins import SOURCES


def prepare(program: str, work: Path, source: Callable[[str], Path]) -> list[str]:
    """Writes the overlay of a program into a work folder; returns the flags that make Go use it.

    source: where the module of a package is. Raises PinError as `doors.replaced` does.
    """
    packages = {**left_out.packages(program), **doors.packages(program)}
    if not packages:
        return []
    folder = work / f"{program}.overlay"
    folder.mkdir(exist_ok=True)
    modules = {module: folder / module.replace("/", "_") for module in packages}
    for module, link in modules.items():
        link.unlink(missing_ok=True)
        link.symlink_to(source(packages[module]))
    files = {**left_out.replaced(program, modules), **doors.replaced(program, modules, folder)}
    overlay = folder / "overlay.json"
    overlay.write_text(json.dumps({"Replace": files}, indent=1), encoding="utf-8")
    own = SOURCES / program
    lines = "".join(f"\nreplace {module} => {link}" for module, link in modules.items())
    (folder / "go.mod").write_text((own / "go.mod").read_text(encoding="utf-8") + lines + "\n", encoding="utf-8")
    (folder / "go.sum").write_text((own / "go.sum").read_text(encoding="utf-8"), encoding="utf-8")
    return [f"-modfile={folder / 'go.mod'}", f"-overlay={overlay}"]
