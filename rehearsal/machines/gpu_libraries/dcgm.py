"""Simulated dcgmi, with the host engine that it calls: `diag -r 1` and `-r 2` with `-j`, in the form of DCGM 4.

The form and the ends: NVIDIA/DCGM v4.5.2, dcgmi/Diag.cpp, Command.cpp and main_dcgmi.cpp, and a recording of 4.2.3
(tests/field_recordings/dcgm.yaml).
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from rehearsal.machines.gpu_libraries import machine
from rehearsal.machines.gpu_libraries.dcgm_words import (
    DOUBLE_BIT_ERROR,
    FINDINGS,
    HOST_ENGINES,
    ISOLATE,
    OF_CUDA,
    RETURNS,
    TESTS,
    VERSION,
    Finding,
)
from rehearsal.machines.hardware.gpu_models import board_serial

_SECONDS: Final = 0.1
"""About two minutes are short in a rehearsal."""
_ALL_GPUS: Final = 0x7FFFFFFF
_GPU: Final = {"entity_group": "GPU", "entity_group_id": 1}

Document = dict[str, Any]


def main(arguments: list[str]) -> int:
    """Run it; returns the exit status."""
    options = dict(zip(arguments, [*arguments[1:], ""], strict=True))
    level = options.get("-r", "")
    if arguments[:1] != ["diag"] or "-j" not in options or level not in {"1", "2"}:
        print(f"PARSE ERROR: dcgmi {' '.join(arguments)} is not simulated")
        return 254
    there = machine.gpus_of_machine()
    if "--host" in options and options["--host"].partition(":")[0] not in os.environ.get(HOST_ENGINES, "").split():
        # Then it does what a host engine does, with the GPUs that its own container has.
        print(f"Error: unable to establish a connection to the specified host: {options['--host']}")
        there = machine.gpus()
    if not there or not (Path(machine.Machine().sys) / "module/nvidia").exists():
        return _fails("no nvml")
    with _alone() as alone:
        if not alone:
            return _fails("running")
        document, how = _diagnosed(there, TESTS[: 1 if level == "1" else len(TESTS)])
    print(json.dumps(document, indent="\t", sort_keys=True, separators=(",", " : ")))
    return _status(how)


def _status(how: str) -> int:
    return RETURNS[how][0] & 0xFF


def _fails(how: str) -> int:
    number, words = RETURNS[how]
    error = f"Error: Unable to complete diagnostic for group {_ALL_GPUS}. Return: ({number}) : {words}\n"
    document = {"DCGM Diagnostic": {"runtime_error": error, "version": VERSION}}
    print(json.dumps(document, indent="\t", separators=(",", " : ")) + "\n")
    return _status(how)


@contextmanager
def _alone() -> Iterator[bool]:
    """True if no other process diagnoses the machine; then no other can, until this ends or is killed."""
    with Path(machine.Machine().root, "dcgm").open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


def _diagnosed(there: list[machine.Gpu], tests: tuple[tuple[str, str], ...]) -> tuple[Document, str]:
    findings = {number: _findings(number) for number in range(len(there))}
    while len(tests) > 1 and any(machine.gpu_fault("gpu-hang", number) for number in findings):
        time.sleep(1)  # its test of the memory never comes back
    time.sleep(_SECONDS)
    categories = [{"category": category, "tests": [_test(test, findings)]} for category, test in tests]
    names = [test for _, test in tests]
    ran = [finding for each in findings.values() for finding in each if finding.test in names]
    how = "well" if not ran else "isolate" if any(each.severity == ISOLATE for each in ran) else "failed"
    entities = [
        {"device_id": gpu.device_id, "entity_id": number, "serial_num": board_serial(gpu.uuid)}
        for number, gpu in enumerate(there)
    ]
    driver = (Path(machine.Machine().sys) / "module/nvidia/version").read_text(encoding="utf-8").strip()
    return {
        "DCGM Diagnostic": {"test_categories": categories},
        "entity_groups": [{**_GPU, "entities": entities}],
        "metadata": {"Driver Version Detected": driver, "version": VERSION},
    }, how


def _findings(number: int) -> list[Finding]:
    """The faults of a GPU, as far as level 2 sees them."""
    findings = [finding for fault, finding in FINDINGS.items() if machine.gpu_fault(fault, number)]
    error = machine.gpu_fault("gpu-error", number)
    return [*findings, *([OF_CUDA[error["error"] == DOUBLE_BIT_ERROR]] if error else [])]


def _test(test: str, findings_by_gpu: dict[int, list[Finding]]) -> Document:
    results = [_result(test, number, findings) for number, findings in findings_by_gpu.items()]
    status = next(status for status in ("Fail", "Pass", "Skip") if status in {each["status"] for each in results})
    warnings = [warning for result in results for warning in result.get("warnings", ())]
    summary = {"status": status, **({"warnings": warnings} if warnings else {})}
    return {"name": test, "results": results, "test_summary": summary}


def _result(test: str, number: int, findings: list[Finding]) -> Document:
    entity = {**_GPU, "entity_id": number}
    if skipped := next((each.skips for each in findings if each.skips and each.test != test), ""):
        return {**entity, "status": "Skip", "info": [skipped]}
    warnings = [
        {
            "error_category": finding.category,
            "error_id": finding.error,
            "error_severity": finding.severity,
            "warning": finding.words.format(gpu=number),
        }
        for finding in findings
        if finding.test == test
        for _ in range(finding.times)
    ]
    return {**entity, "status": "Fail", "warnings": warnings} if warnings else {**entity, "status": "Pass"}
