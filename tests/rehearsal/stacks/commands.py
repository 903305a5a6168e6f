"""`make rehearse` as a person runs it: a process in a separate session, and its output in a file."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from rehearsal.control_plane import ENVIRONMENT_VARIABLE
from rehearsal.tools.paths import PROJECT
from tests.rehearsal.poor_place import DEAD_PROXY, command_in

from .conftest import SPEED

LIMIT_SECONDS = 300.0
UP = ("--speed", str(SPEED))


def rehearse(checkout: Path, *arguments: str, poor: Path | None = None) -> "subprocess.Popen[bytes]":
    """Start a command in a separate session, as a terminal does; it prints into the file `output`.

    The proxy never answers, and Python's output is unbuffered: neither may make a difference. poor: a folder; the
    command runs with few rights and may write nothing else (poor_place.py).
    """
    command = [sys.executable, "-m", "rehearsal", "--project", str(checkout), *arguments]
    left_out = {ENVIRONMENT_VARIABLE, "no_proxy", "NO_PROXY"}
    environment = {key: value for key, value in os.environ.items() if key not in left_out}
    environment |= {"http_proxy": DEAD_PROXY, "https_proxy": DEAD_PROXY, "PYTHONUNBUFFERED": "1"}
    with (checkout / "output").open("ab") as output:
        return subprocess.Popen(
            command if poor is None else command_in(poor, *command),
            cwd=PROJECT,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def printed(checkout: Path) -> str:
    return (checkout / "output").read_text()


def processes_of(checkout: Path) -> list[str]:
    """Command lines of everything that runs for a rehearsal of this checkout."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(ENVIRONMENT_VARIABLE, "").startswith(str(checkout)):
                found.append(" ".join(process.cmdline()))
    return found


def wait_until(condition: Callable[[], object], what: str, seconds: float = LIMIT_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        time.sleep(0.2)
