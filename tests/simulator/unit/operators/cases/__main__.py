"""Write the outcomes of every case again."""

from tests.simulator.unit.operators.cases import CASES

CASES.write()
