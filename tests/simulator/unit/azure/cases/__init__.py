"""Requests to the simulated Azure: `python -m tests.simulator.unit.azure.cases` writes its answers again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.simulator.unit.azure.cases import families, others, people

CASES: Final = Cases(folder=Path(__file__).parent, families={**families.FAMILIES, **others.FAMILIES, **people.FAMILIES})
