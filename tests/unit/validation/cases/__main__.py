"""Write the outcomes of every case again."""

from tests.unit.validation.cases import subjects, write

for file, rules in subjects():
    write(file, rules)
