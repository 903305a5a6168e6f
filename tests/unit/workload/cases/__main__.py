"""Write the outcomes of every case again."""

from tests.unit.workload.cases import CASES

CASES.write()
