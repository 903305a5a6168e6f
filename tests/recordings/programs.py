"""The programs that are recorded, and the files of their recordings."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from declared.program import run
from declared.recording import document

PROJECT = Path(__file__).parents[2]
CHANGELOG = PROJECT / "CHANGELOG.md"
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Program:
    """One program with one stack file."""

    folder: Path
    stack: str

    @property
    def name(self) -> str:
        """The stack's name for the project itself, the folder's for an example."""
        return self.stack if self.folder == PROJECT else self.folder.name

    @property
    def declared(self) -> Path:
        """Its recorded declaration of today."""
        return _HERE / "declared" / f"{self.name}.yaml"

    @property
    def released(self) -> Path:
        """The parts of it whose change since the last release replaces a resource."""
        return _HERE / "released" / f"{self.name}.yaml"

    def record(self) -> dict[str, Any]:
        """Its declaration in a run now."""
        return document(run(self.folder, self.stack))


PROGRAMS = tuple(
    Program(folder, file.name.split(".")[1])
    for folder in (PROJECT, *sorted(path.parent for path in (PROJECT / "examples").glob("*/Pulumi.yaml")))
    for file in sorted(folder.glob("Pulumi.*.yaml"))
)
"""Every stack of the project, and every example with its stack."""


def read(file: Path) -> Any:
    """A recording, or identities, as the repository has them."""
    return yaml.safe_load(file.read_text())
