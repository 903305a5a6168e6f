"""Clusters in which a wait failed, and what a person reads of it: `python -m tests.unit.diagnosis.cases` writes the
outcomes again.
"""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.diagnosis.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
