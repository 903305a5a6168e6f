"""Outcomes of judged data and of printed texts: `python -m tests.unit.validation.cases` writes them again.

A case has what differs from what is healthy: the word gone takes a key or an item away, and all stands for every item
of a list. Of checks, a case gives those that what is healthy does not have; `not there` is the verdict on a check that
only what is healthy has.
"""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.validation.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
