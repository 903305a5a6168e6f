"""The rest of a build, in minutes, from the time that the parts so far took."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE_COST = 70_000
"""The cost of a package to compile in addition to its source, in bytes of source: starting the compiler, reading
imports. From a build's own record of the processor time of each package (go build -debug-actiongraph).
"""
LINK_COST = 2_500_000
"""The cost of linking a program, in the same unit."""


@dataclass(frozen=True)
class Package:
    """One package that a program needs: its import path, its folder, its bytes of Go."""

    path: str
    folder: str
    size: int

    @property
    def cost(self) -> int:
        return PACKAGE_COST + self.size


def read_listing(text: str) -> tuple[Package, ...]:
    """The packages that `go list` names in LISTING, one on a line."""
    packages = []
    for line in text.splitlines():
        path, folder, files = line.split("\t")
        sizes = [_size(Path(folder) / name) for name in files.split(",") if name]
        packages.append(Package(path, folder, sum(sizes)))
    return tuple(packages)


LISTING = '{{.ImportPath}}\t{{.Dir}}\t{{join .GoFiles ","}}'


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:  # a file of the overlay; they are small
        return 0


@dataclass
class Progress:
    """The programs of a build, in their order: what each needs that none before it has had compiled."""

    programs: dict[str, Mapping[str, int]] = field(default_factory=dict)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    _done: dict[str, int] = field(default_factory=dict)

    def add(self, program: str, packages: tuple[Package, ...]) -> None:
        """A program's packages have become known."""
        new = [package for package in packages if (package.path, package.folder) not in self._seen]
        self.programs[program] = {package.path: package.cost for package in new}
        self._seen.update((package.path, package.folder) for package in new)

    def compiled(self, program: str, log: str) -> tuple[int, int]:
        """Reads what Go has written so far, a line for each package; returns their number and the number of all."""
        costs = self.programs[program]
        finished = costs.keys() & set(log.splitlines())
        self._done[program] = sum(costs[path] for path in finished)
        return len(finished), len(costs)

    def built(self, program: str) -> None:
        """A program is linked."""
        self._done[program] = self._cost(program)

    def left_s(self, elapsed_s: float) -> float | None:
        """The seconds that the known programs will still take; None before anything is done."""
        done = sum(self._done.values())
        total = sum(self._cost(program) for program in self.programs)
        return elapsed_s * (total - done) / done if done else None

    def _cost(self, program: str) -> int:
        return sum(self.programs[program].values()) + LINK_COST


def in_minutes(seconds: float) -> str:
    """Such as "about 3 min left"."""
    return "less than a minute left" if seconds < 60 else f"about {math.ceil(seconds / 60)} min left"
