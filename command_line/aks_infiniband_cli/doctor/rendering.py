"""The faults of a cluster, for a terminal, a pipe and a program."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from aks_infiniband.terminal import one_line
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aks_infiniband_cli.console import FINE, FOUND, Answer, lines_of, uncut
from aks_infiniband_cli.doctor.catalogue import Symptom
from aks_infiniband_cli.doctor.examine import Diagnosis

_Row = tuple[str, str, str]
"""A label, a text, and its style on a terminal."""
_MOST_OBJECTS: Final = 5
"""The most objects shown of one finding, because a person has to read it even if a hundred machines show the same."""


def answer(diagnoses: Sequence[Diagnosis], unread: Sequence[str], next_: Sequence[str] = ()) -> Answer:
    """Every finding, and what could not be read. next_: what a person may do then. FOUND if something is wrong."""
    blocks = [(same[0].symptom, [*_rows(same)]) for same in _by_symptom(diagnoses)]
    ending = lines_of(*((line, "dim") for line in _ending(diagnoses, unread)), *((line, "cyan") for line in next_))
    lines = [line for symptom, rows in blocks for line in _block(symptom, rows)]
    parts = [part for symptom, rows in blocks for part in _table(symptom, rows)]
    return Answer(
        document={"findings": [_document(diagnosis) for diagnosis in diagnoses], "unread": list(unread)},
        lines=[*lines, *ending],
        table=Group(*parts, *ending),
        exit_code=FOUND if diagnoses else FINE,
    )


def _document(diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "symptom": diagnosis.symptom.id,
        "title": diagnosis.symptom.title,
        "object": diagnosis.about,
        "evidence": diagnosis.evidence,
        "cause": diagnosis.cause,
        "fix": diagnosis.fix,
        "command": diagnosis.command,
        "sources": list(diagnosis.symptom.sources),
    }


def _rows(same: Sequence[Diagnosis]) -> Iterator[_Row]:
    """The findings of one symptom and one cause: objects and evidence of the first few, the cause and the fix."""
    first = same[0]
    for diagnosis in same[:_MOST_OBJECTS]:
        yield "object", one_line(diagnosis.about), "bold"
        yield "evidence", diagnosis.evidence, ""
    if len(same) > _MOST_OBJECTS:
        yield "", f"and {len(same) - _MOST_OBJECTS} more of the kind", ""
    yield "cause", one_line(first.cause), ""
    yield "fix", first.fix, "green"
    if first.command:
        yield "look", one_line(first.command), "cyan"


def _block(symptom: Symptom, rows: Sequence[_Row]) -> Iterator[Text]:
    """For a pipe: a line for each row."""
    yield uncut(f"{symptom.id}: {symptom.title}")
    for label, text, _ in rows:
        yield uncut("  ", f"{label}: " if label else "", text.replace("\n", "\n    "))


def _table(symptom: Symptom, rows: Sequence[_Row]) -> Iterator[RenderableType]:
    """For a terminal: a table, which folds long texts in their column."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text, style in rows:
        table.add_row(label, Text(text, style=style))
    yield Text.assemble((symptom.title, "bold red"), f"  {symptom.id}")
    yield Padding(table, (0, 0, 1, 2))


def _by_symptom(diagnoses: Sequence[Diagnosis]) -> Iterator[list[Diagnosis]]:
    """The findings of one symptom and one cause together, in their order."""
    together: dict[tuple[str, str], list[Diagnosis]] = {}
    for diagnosis in diagnoses:
        together.setdefault((diagnosis.symptom.id, diagnosis.cause), []).append(diagnosis)
    yield from together.values()


def _ending(diagnoses: Sequence[Diagnosis], unread: Sequence[str]) -> list[str]:
    symptoms = len({diagnosis.symptom.id for diagnosis in diagnoses})
    fine = "nothing of what the catalogue knows is wrong" + (" in what could be read" if unread else "")
    count = f"symptoms: {symptoms}, objects: {len(diagnoses)}" if diagnoses else fine
    return [*(f"not looked at: {reason}" for reason in unread), f"doctor: {count}"]
