"""Write the outcomes of every case again."""

from tests.simulator.unit.command.cases import CASES

CASES.write()
