"""The cases of breaks.yaml, and what the doctor says of what was recorded of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import yaml
from aks_infiniband_cli.doctor.examine import Diagnosis, examine
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.doctor_corpus import store

FOLDER: Final = Path(__file__).parent


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One thing that was broken, or repaired after it was broken."""

    name: str
    stack: str
    breaks: str
    """The commands that broke it, in shell."""
    mends: str
    shows: Mapping[str, str]
    """By symptom, the object that shows it, as a pattern."""
    records_mended: bool

    def wrong(self, found: list[Diagnosis]) -> str:
        """The errors in the doctor's findings; empty if it finds each symptom, and no other."""
        told: dict[str, list[str]] = {}
        for diagnosis in found:
            told.setdefault(diagnosis.symptom.id, []).append(diagnosis.about)
        problems = [f"not told: {symptom}" for symptom in self.shows if symptom not in told]
        problems += [f"told beside it: {symptom}" for symptom in told if symptom not in self.shows]
        problems += [
            f"{symptom} of {about}"
            for symptom, pattern in self.shows.items()
            for about in told.get(symptom, [])
            if not fnmatchcase(about, pattern)
        ]
        return "; ".join(problems)


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The doctor's findings on one recorded cluster."""

    case: str
    mended: bool
    stack: str
    told: tuple[str, ...]
    wrong: str


def cases() -> list[Case]:
    """Every case, in the order of the file: some begin at the end of the one before."""
    given = yaml.safe_load((FOLDER / "breaks.yaml").read_text())
    return [
        Case(
            name=name,
            stack=case["stack"],
            breaks=case["break"],
            mends=case["mend"],
            shows=case["shows"],
            records_mended=case.get("mended", False),
        )
        for name, case in given.items()
    ]


def name_of(case: Case, *, mended: bool) -> str:
    """The name of the recorded cluster of a case."""
    return f"{case.name}, {'mended' if mended else 'broken'}"


def scores() -> Iterator[Score]:
    """The doctor's findings on every recorded cluster, broken ones first."""
    for mended in (False, True):
        for case in cases():
            document = store.load(case.stack).get(name_of(case, mended=mended))
            if document is None:
                continue
            found = examine(Snapshot.from_document(document))
            told = tuple(dict.fromkeys(diagnosis.symptom.id for diagnosis in found))
            wrong = ", ".join(told) if mended else case.wrong(found)
            yield Score(case=case.name, mended=mended, stack=case.stack, told=told, wrong=wrong)
