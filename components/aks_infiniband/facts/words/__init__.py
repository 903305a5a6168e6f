"""The one catalogue of words: what programs say when something is wrong, with cause, cure and source.

A file has the words of one kind of author. The doctor, a failed `up`, `evidence` and the program in the pods read them
here; pods get their part of them as JSON (`for_pods`). Unknown words are shown as they are: none is fitted into the
nearest cause. Letter case does not count.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from aks_infiniband.facts.tables import table
from aks_infiniband.terminal import with_addresses

Part = Literal["cause", "unreached", "followed"]
"""A rank failed first, does not reach a peer, or only follows another that failed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """An entry."""

    words: str
    """Regular expression."""
    cause: str
    """The likely cause."""
    fix: str = ""
    """The cure."""
    id: str = ""
    """Its symptom in the doctor's catalogue; without one, the doctor gives the cause to the symptom that it sees."""
    part: Part = "cause"
    of: Literal["anyone", "ours"] = "anyone"
    """The program that may say it. In a program of others the same words may have another cause."""
    since: str = ""
    """The release from which on the wording is this one, if older ones had another."""
    sources: tuple[str, ...] = ()
    """Reports, or the code that says it."""
    read: str = ""
    """When the sources were read."""

    def __str__(self) -> str:
        return f"{self.cause}: {self.fix}" if self.fix else self.cause

    def found_in(self, text: str) -> bool:
        """Match a text."""
        return re.search(self.words, text, re.IGNORECASE) is not None


def _file(name: str, key: str = "entries") -> tuple[Words, ...]:
    entries: Mapping[str, Any] = table(__package__, f"{name}.yaml")
    general = {field: entries[field] for field in ("read", "of") if field in entries}
    return tuple(_entry({**general, **entry}) for entry in entries[key])


def _entry(row: Mapping[str, Any]) -> Words:
    sources, read = tuple(row["sources"]), str(row["read"])
    fix = with_addresses(row.get("fix", ""))
    return Words(**{**row, "sources": sources, "read": read, "since": str(row.get("since", "")), "fix": fix})


def _statuses() -> Mapping[int, Words]:
    """By their number, the statuses of completions, found by number, name and the words that programs have for them."""
    rows = table(__package__, "verbs.yaml")
    general = {"sources": ("rdma-core, libibverbs/verbs.h",), "read": rows["read"]}
    return {
        number: _entry({**general, "cause": entry["cause"], "part": entry.get("part", "cause"), "words": words})
        for number, entry in rows["statuses"].items()
        for words in [_words_of_status(number, entry["name"], entry["words"])]
    }


def _words_of_status(number: int, name: str, words: str) -> str:
    told = words if re.search("exceeded|IBV_WC", words) else f"(?:{words})(?: error| on mlx| \\(synd)"
    return (
        rf"Got completion .*?(?:status=|error )\(?(?:[^)]*wc->status=\()?(?:IBV_WC_\w+[()]+)?{number}\b"
        rf"|Failed status {number}\b|IBV_WC_{name}(_ERR)?\b|{told}"
    )


PROGRAMS: Final = _file("programs")
"""About an image, a pod and a disk."""
TOOLS: Final = _file("tools")
VERBS: Final = _file("verbs")
STATUSES: Final = _statuses()
"""About completions."""
GPUS: Final = _file("gpus")
(UNANSWERED,) = _file("nccl", "unreached")
"""Connections on the pod network that are never answered."""
NCCL: Final = (UNANSWERED, *_file("nccl"))
HARDWARE: Final = tuple(
    each for each in (*VERBS, *GPUS, *STATUSES.values(), *NCCL) if each.of == "anyone" and each.part != "followed"
)
"""True of hardware and drivers in the log of any program."""
DCGM: Final = _file("dcgm")
DRIVERS: Final = (*_file("drivers"), *_file("kmm"), *DCGM)
"""Pods of operators, drivers, AKS and ours. In another's log the same words are about something else."""
RUNTIME: Final = _file("runtime")
SANDBOX: Final = _file("sandbox")
CLAIMS: Final = _file("claims")
ADMISSION: Final = _file("admission")
ENDS: Final = _file("ends")
"""About pods and containers that ended: the reason, then the message."""
REFUSALS: Final = _file("refusals")
SYMPTOMS: Final = (*DRIVERS, *HARDWARE, *RUNTIME, *SANDBOX, *CLAIMS, *ADMISSION)
"""All that the doctor may find. Several entries may have one symptom: the first one explains it."""


def found_in(text: str, entries: Iterable[Words] = DRIVERS) -> Words | None:
    """The first entry that matches a text; None if its words are not known."""
    return next((each for each in entries if each.found_in(text)), None)


def for_pods() -> str:
    """The part that the program in the pods reads, as JSON."""
    ranks = [_plain(each) for each in (*PROGRAMS, *VERBS, *GPUS, *NCCL)]
    statuses = {str(number): _plain(each) for number, each in STATUSES.items()}
    words = {
        "dropped": UNANSWERED.cause,
        "ranks": ranks,
        "statuses": statuses,
        "tools": [_plain(each) for each in TOOLS],
    }
    return f"{json.dumps(words, indent=1, ensure_ascii=False)}\n"


def _plain(entry: Words) -> dict[str, str]:
    return {"words": entry.words, "cause": str(entry), "part": entry.part}
