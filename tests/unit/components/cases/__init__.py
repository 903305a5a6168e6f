"""Documents and words of pools and options: `python -m tests.unit.components.cases` writes the outcomes again."""

from pathlib import Path
from typing import Final

from tests.cases import Cases
from tests.unit.components.cases import azure, existing, operators, stacks

FAMILIES: Final = {**operators.FAMILIES, **existing.FAMILIES, **azure.FAMILIES, **stacks.FAMILIES}
CASES: Final = Cases(folder=Path(__file__).parent, families=FAMILIES)
