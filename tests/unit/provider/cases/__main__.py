"""Write the outcomes of every case again."""

from tests.unit.provider.cases import CASES

CASES.write()
