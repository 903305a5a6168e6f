"""Write the words of every case again."""

from tests.unit.settings.cases import subjects, write

for file, subject in subjects():
    write(file, subject)
