"""Write the outcomes of every case again."""

from tests.unit.command_line.cases import CASES

CASES.write()
