"""Breaks a kept rehearsal, one thing at a time, and records what it shows.

`python -m tests.doctor_corpus.record KUBECONFIG STACK [CASE …]`, after `make rehearse STACK=… KEEP=1`. The recording is
the cluster at the first moment at which the doctor finds what it should, or after a minute whatever it finds.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from aks_infiniband_cli.doctor.examine import Diagnosis, examine
from aks_infiniband_cli.doctor.read import read
from aks_infiniband_cli.doctor.snapshot import Snapshot

from tests.doctor_corpus import store
from tests.doctor_corpus.cases import FOLDER, Case, cases, name_of
from tests.doctor_corpus.store import Document
from tests.unit.command_line.doctor.recording import cut

_BREAK_SECONDS: Final = 60.0
_MEND_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 1.0
_TIMES: Final = 3
"""The number of times in a row that the doctor has to be right: trouble that follows shows a little later."""


def main(kubeconfig: Path, stack: str, chosen: list[str]) -> int:
    """Record the cases of a stack, or the chosen ones; returns how many showed anything else than they should."""
    kept = dict(store.load(stack)) or {store.HEALTHY: document(read(kubeconfig.read_text()))}
    failed = 0
    for case in cases():
        if case.stack == stack and (case.name in chosen or not chosen):
            wrong, found = _recorded(case, kubeconfig)
            kept |= found
            print(f"{case.name:60} {wrong or 'as it should be'}", flush=True)
            failed += bool(wrong)
            store.save(stack, kept)
    return failed


def document(snapshot: Snapshot) -> Document:
    """A snapshot as a document, cut down to what the doctor looks at."""
    plain = [json.loads(json.dumps(dict(item), default=str)) for item in snapshot.objects()]
    objects = [kept for item in plain if (kept := cut(item)) and (item["kind"] != "ConfigMap" or "data" in kept)]
    logs = {name: text for name, text in snapshot.view.logs.items() if text}
    return {
        "read_at": snapshot.read_at.isoformat(timespec="seconds"),
        "objects": objects,
        "logs": logs,
        "undefined": snapshot.undefined,
    }


def _recorded(case: Case, kubeconfig: Path) -> tuple[str, dict[str, Document]]:
    """The errors in the doctor's findings, and the broken and the repaired cluster."""
    with tempfile.NamedTemporaryFile() as saved:
        environment = {"KUBECONFIG": str(kubeconfig), "SAVED": saved.name}
        wrong = _run(case.breaks, environment)
        broken, told = _looked(kubeconfig, case.wrong, _BREAK_SECONDS)
        found = {name_of(case, mended=False): document(broken)}
        wrong += case.wrong(told) + _cut_too_short(broken, told)
        wrong += _run(case.mends, environment)
    if case.shows:
        mended, told = _looked(kubeconfig, lambda found: "; ".join(map(_as_text, found)), _MEND_SECONDS)
        wrong += f" | after it was mended: {'; '.join(map(_as_text, told))}" if told else ""
        if case.records_mended:
            found[name_of(case, mended=True)] = document(mended)
    return wrong, found


def _as_text(diagnosis: Diagnosis) -> str:
    return f"{diagnosis.symptom.id} of {diagnosis.about}: {diagnosis.evidence[:300]}"


def _cut_too_short(snapshot: Snapshot, told: list[Diagnosis]) -> str:
    again = examine(Snapshot.from_document(document(snapshot)))
    missed = {(d.symptom.id, d.about) for d in told} ^ {(d.symptom.id, d.about) for d in again}
    return f" | the recording lacks something: {missed}" if missed else ""


def _looked(
    kubeconfig: Path, wrong: Callable[[list[Diagnosis]], str], seconds: float
) -> tuple[Snapshot, list[Diagnosis]]:
    """The cluster when the doctor says of it what it should, several times in a row; or at the end of the time."""
    deadline, good = time.monotonic() + seconds, 0
    while True:
        snapshot = read(kubeconfig.read_text())
        told = examine(snapshot)
        good = 0 if wrong(told) else good + 1
        if good > _TIMES or time.monotonic() > deadline:
            return snapshot, told
        time.sleep(_PAUSE_SECONDS)


def _run(script: str, environment: Mapping[str, str]) -> str:
    """Run a script; empty, or what it failed with."""
    bins = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    text = f"{(FOLDER / 'prelude.sh').read_text()}\n{script}"
    done = subprocess.run(
        ["bash", "-c", text],
        env={**os.environ, **environment, "PATH": bins},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    return f" | exit code {done.returncode}: {done.stderr[-500:]}" if done.returncode else ""


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]), 1))
