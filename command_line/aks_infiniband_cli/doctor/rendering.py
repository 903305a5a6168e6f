"""The faults of a cluster, for a terminal, a pipe and a program."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from aks_infiniband.terminal import one_line
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from aks_infiniband_cli.doctor.examine import Diagnosis

_MOST_OBJECTS: Final = 5
"""The most objects shown of one finding, because a person has to read it even if a hundred machines show the same."""


def document(found: Sequence[Diagnosis], unread: Sequence[str]) -> dict[str, Any]:
    """For programs: every finding, and what could not be read."""
    findings = [
        {
            "symptom": diagnosis.symptom.id,
            "title": diagnosis.symptom.title,
            "object": diagnosis.about,
            "evidence": diagnosis.evidence,
            "cause": diagnosis.cause,
            "fix": diagnosis.fix,
            "command": diagnosis.command,
            "sources": list(diagnosis.symptom.sources),
        }
        for diagnosis in found
    ]
    return {"findings": findings, "unread": list(unread)}


def text(found: Sequence[Diagnosis], unread: Sequence[str], next_: Sequence[str] = ()) -> str:
    """For a pipe: a block for each symptom. next_: what a person may do then."""
    lines = []
    for same in _by_symptom(found):
        first = same[0]
        lines.append(f"{first.symptom.id}: {first.symptom.title}")
        for diagnosis in same[:_MOST_OBJECTS]:
            lines += [f"  object: {one_line(diagnosis.about)}", f"  evidence: {_indented(diagnosis)}"]
        lines += [f"  {line}" for line in _more(same)]
        lines += [f"  cause: {one_line(first.cause)}", f"  fix: {first.fix}"]
        lines += [f"  look: {one_line(first.command)}"] if first.command else []
    return "\n".join([*lines, *_ending(found, unread), *map(one_line, next_)])


def shown(found: Sequence[Diagnosis], unread: Sequence[str], next_: Sequence[str] = ()) -> RenderableType:
    """For a terminal: the same, as a table for each symptom."""
    parts: list[RenderableType] = []
    for same in _by_symptom(found):
        first = same[0]
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column(overflow="fold")
        for diagnosis in same[:_MOST_OBJECTS]:
            table.add_row("object", Text(one_line(diagnosis.about), style="bold"))
            table.add_row("evidence", Text(diagnosis.evidence))
        for line in _more(same):
            table.add_row("", line)
        table.add_row("cause", Text(one_line(first.cause)))
        table.add_row("fix", Text(first.fix, style="green"))
        if first.command:
            table.add_row("look", Text(first.command, style="cyan"))
        title = Text.assemble((first.symptom.title, "bold red"), f"  {first.symptom.id}")
        parts += [title, Padding(table, (0, 0, 1, 2))]
    ending = [Text(line, style="dim") for line in _ending(found, unread)]
    return Group(*parts, *ending, *(Text(one_line(line), style="cyan") for line in next_))


def _by_symptom(found: Sequence[Diagnosis]) -> Iterator[list[Diagnosis]]:
    """The findings of one symptom and one cause together, in their order."""
    together: dict[tuple[str, str], list[Diagnosis]] = {}
    for diagnosis in found:
        together.setdefault((diagnosis.symptom.id, diagnosis.cause), []).append(diagnosis)
    yield from together.values()


def _indented(diagnosis: Diagnosis) -> str:
    return diagnosis.evidence.replace("\n", "\n    ")


def _more(same: Sequence[Diagnosis]) -> list[str]:
    return [f"and {len(same) - _MOST_OBJECTS} more of the kind"] if len(same) > _MOST_OBJECTS else []


def _ending(found: Sequence[Diagnosis], unread: Sequence[str]) -> list[str]:
    symptoms = len({diagnosis.symptom.id for diagnosis in found})
    fine = "nothing of what the catalogue knows is wrong" + (" in what could be read" if unread else "")
    count = f"symptoms: {symptoms}, objects: {len(found)}" if found else fine
    return [*(f"not looked at: {one_line(reason)}" for reason in unread), f"doctor: {count}"]
