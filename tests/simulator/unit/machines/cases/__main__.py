"""Write the outcomes of every case again."""

from tests.simulator.unit.machines.cases import CASES

CASES.write()
