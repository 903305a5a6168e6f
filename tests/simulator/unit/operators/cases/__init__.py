"""Clusters and policies, and what simulated operators make of them.

`python -m tests.simulator.unit.operators.cases` writes the outcomes again.
"""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.simulator.unit.operators.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
