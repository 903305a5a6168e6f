"""Pods, Jobs and checks of a pool: `python -m tests.unit.workload.cases` writes the outcomes again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.workload.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
