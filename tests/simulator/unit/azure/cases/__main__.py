"""Write the outcomes of every case again."""

from tests.simulator.unit.azure.cases import CASES

CASES.write()
