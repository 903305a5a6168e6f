"""A person's files, and a rehearsal's screen and state: `python -m tests.simulator.unit.command.cases` writes them."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.simulator.unit.command.cases import files, screens, states

CASES: Final = Cases(folder=Path(__file__).parent, families={**files.FAMILIES, **screens.FAMILIES, **states.FAMILIES})
