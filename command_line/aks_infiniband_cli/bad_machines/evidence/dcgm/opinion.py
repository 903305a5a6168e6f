"""DCGM's findings, in words for a ticket, and their relation to the validation's verdict on the same GPUs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from aks_infiniband.facts.dcgm import LEVEL, LOOKS_AT
from aks_infiniband.facts.words import DCGM, found_in

_BAD: Final = ("Fail", "Warn")
OURS: Final = re.compile(r"^GPU (\d+)\b")
"""The number of a GPU in the device of a check: nvidia-smi's."""
_NONE_BAD: Final = "neither DCGM nor the validation of {} finds a GPU bad"
_NOT_MEASURED: Final = "DCGM finds no GPU bad; no validation has measured them"

Diagnosis = Mapping[str, Any]


def finds_bad(row: Mapping[str, Any]) -> bool:
    """True if a result speaks against the hardware. A setting that DCGM dislikes, as persistence mode, does not."""
    return row["result"] == "Fail" and bool(row["hardware"])


def problems(asked: Diagnosis | None) -> list[str]:
    """In a line each: DCGM's findings against the machine; nothing if it was not called, or has said nothing."""
    return [f"DCGM: {_told(row)}" for row in (asked or {}).get("results", ()) if finds_bad(row)]


def findings(diagnosis: Diagnosis) -> list[str]:
    """In a line each: for each test, the number of GPUs that passed it, and every result that is not a pass."""
    lines: list[str] = []
    for test in dict.fromkeys(row["test"] for row in diagnosis["results"]):
        rows = [row for row in diagnosis["results"] if row["test"] == test]
        # A test that passed with a warning may not have tested: its words are what counts (NVIDIA/DCGM issue 284).
        passed = [row for row in rows if row["result"] == "Pass" and not row["words"]]
        devices = sum(1 for row in passed if row["device"])
        lines += [f"{test}: Pass{f' on {devices} GPUs' if devices > 1 else _of(passed[0])}"] if passed else []
        lines += [_told(row) for row in rows if row not in passed]
    return lines


def _told(row: Mapping[str, Any]) -> str:
    words = "; ".join(row["words"]) or "it says no more"
    known = found_in(words, DCGM)
    meaning = f" ({known.cause})" if known else ""
    setting = " (a setting or a program, no fault of the GPU)" if row["result"] in _BAD and not row["hardware"] else ""
    return f"{row['test']}: {row['result']}{_of(row)}: {words}{meaning}{setting}"


def _of(row: Mapping[str, Any]) -> str:
    return f", {row['device']}" if row["device"] else ""


def beside(
    asked: Diagnosis, checks: Iterable[Mapping[str, Any]], gpus: Sequence[Mapping[str, str]], measured_on: str | None
) -> dict[str, list[str]]:
    """As `second_opinion`, in a line each: the points on which DCGM and the validation agree about the GPUs, and those
    on which not.

    checks: failures and warnings at the node in the pool's last validation. gpus: as the machine's nvidia-smi reports
    them. measured_on: the end of that validation; None without one.
    """
    if "results" not in asked:
        return {}
    numbers = _numbers(asked, gpus)
    theirs: dict[int, list[str]] = {}
    for row in asked["results"]:
        if row["gpu"] is not None and finds_bad(row):
            theirs.setdefault(numbers.get(row["gpu"], row["gpu"]), []).append(row["test"])
    ours: dict[int, list[str]] = {}
    for check in checks:
        if check["check"].startswith("gpu-") and (match := OURS.match(check["device"] or "")):
            ours.setdefault(int(match[1]), []).append(check["check"])
    lines = [*_count(asked)]
    lines += [_of_gpu(gpu, theirs.get(gpu, []), ours.get(gpu, []), measured_on) for gpu in sorted({*theirs, *ours})]
    return {"second_opinion": lines or [_NONE_BAD.format(measured_on) if measured_on else _NOT_MEASURED]}


def _count(asked: Diagnosis) -> Iterator[str]:
    """That GPUs are missing: DCGM tests those that are there, and does not count them."""
    seen = len(asked["serials"]) or len({row["gpu"] for row in asked["results"]} - {None})
    if 0 < seen < asked["promised"]:
        yield f"DCGM sees {seen} of {asked['promised']} GPUs"


def _of_gpu(gpu: int, theirs: Sequence[str], ours: Sequence[str], measured_on: str | None) -> str:
    tests, checks = ", ".join(dict.fromkeys(theirs)), ", ".join(dict.fromkeys(ours))
    if theirs and ours:
        return f"GPU {gpu}: both find it bad: DCGM by {tests}, the validation by {checks}"
    if theirs:
        other = f"the validation of {measured_on} does not" if measured_on else "no validation has measured it"
        return f"GPU {gpu}: DCGM finds it bad by {tests}; {other}"
    if LOOKS_AT.intersection(ours):
        return f"GPU {gpu}: they disagree: the validation finds it bad by {checks}, DCGM does not"
    return f"GPU {gpu}: the validation finds it bad by {checks}, at which DCGM's level {LEVEL} does not look"


def _numbers(diagnosis: Diagnosis, gpus: Sequence[Mapping[str, str]]) -> dict[int, int]:
    """nvidia-smi's number by DCGM's, if both report the serial number. The two need not be the same."""
    by_serial = {gpu["serial"]: int(gpu["index"]) for gpu in gpus if gpu["index"].isdigit()}
    return {number: by_serial[serial] for number, serial in diagnosis["serials"].items() if serial in by_serial}
