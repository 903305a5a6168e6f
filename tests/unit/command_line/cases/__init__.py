"""Decisions and words of commands: `python -m tests.unit.command_line.cases` writes the outcomes again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.command_line.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
