"""Outcomes of judged data and of printed texts: `python -m tests.unit.validation.cases` writes them again.

A case has what differs from what is healthy: the word gone takes a key or an item away, and all stands for every item
of a list. A case gives the checks that differ from those of a healthy pool; `not there` is the verdict on a check of
the healthy pool alone.
"""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.validation.cases.families import FAMILIES

CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
