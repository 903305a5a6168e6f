"""A person's files and a rehearsal's screen: `python -m tests.simulator.unit.command.cases` writes them again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.simulator.unit.command.cases import files, screens

CASES: Final = Cases(folder=Path(__file__).parent, families={**files.FAMILIES, **screens.FAMILIES})
