"""Write the outcomes of every case again."""

from tests.unit.diagnosis.cases import CASES

CASES.write()
