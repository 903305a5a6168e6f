"""Write the outcomes of every case again."""

from tests.unit.components.cases import CASES

CASES.write()
