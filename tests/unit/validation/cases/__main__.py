"""Write the outcomes of every case again."""

from tests.unit.validation.cases import CASES

CASES.write()
