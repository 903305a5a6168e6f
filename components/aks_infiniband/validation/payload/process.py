"""Programs run with a time limit: what hangs is killed, with all that it started, and that is said.

A client whose server does not listen yet is run again.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import IO, NamedTuple, TypedDict

OUTPUT_BYTES = 65536
"""What is kept of a program's output: the end, where results and errors are."""


class Ended(NamedTuple):
    """How a program ended: its exit code, None when it was killed at its limit or could not be started."""

    command: str
    code: int | None
    output: str
    error: str | None
    """In words, what went wrong; None when it ended well."""


class Running:
    """A program that has been started, in a process group of its own."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None, *, cpus: Collection[int] = ()
    ) -> None:
        """Start it, by default with our own environment, on any CPU; what cannot be started has ended at once."""
        self._name = os.path.basename(command[0])  # noqa: PTH119 a name, not a file
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 closed by _end
        self._process: subprocess.Popen[bytes] | None = None
        self._problem = ""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=environment,
                preexec_fn=partial(os.sched_setaffinity, 0, cpus) if cpus else None,  # noqa: PLW1509 no threads here
            )
        except OSError as error:
            self._problem = f"{self._name} could not be started: {error.strerror}"

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process is not None and self._process.poll() is None

    @property
    def failed(self) -> bool:
        """Whether it has ended, and not well."""
        return self._process is None or bool(self._process.poll())

    def wait(self, limit_seconds: float) -> Ended:
        """Wait until it ends, or kill it when its time is up."""
        if self._process is None:
            return self._end(None, self._problem)
        try:
            code = self._process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            self._kill()
            return self._end(None, f"{self._name} did not end within {limit_seconds:.0f} s and was killed")
        if code == 0:
            return self._end(0, None)
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        return self._end(code, f"{self._name} {how}")

    def kill(self) -> Ended:
        """End it now."""
        self._kill()
        return self._end(None, f"{self._name} was killed")

    def _kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _end(self, code: int | None, error: str | None) -> Ended:
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - OUTPUT_BYTES))
        text = self._output.read().decode("utf-8", errors="replace")
        self._output.close()
        return Ended(self._name, code, text, error if error is None else with_words(error, text))


_TELLING = re.compile(r"couldn't|can`t|cannot|unable|fail|error|not found|no such|state is", re.IGNORECASE)
_LINES = 2


def _said(output: str) -> list[str]:
    """The lines of an output that are more than a rule."""
    return [line.strip() for line in output.splitlines() if line.strip(" -*\t")]


def with_words(error: str, output: str) -> str:
    """An error with what the program said of it: its first complaints, or the last thing that it said at all."""
    said = _said(output)
    telling = [line for line in said if _TELLING.search(line)][:_LINES] or said[-1:]
    return f"{error}: {'; '.join(telling)}" if telling else error


def run(command: Sequence[str], limit_seconds: float) -> Ended:
    """Run a program to its end, or to its limit."""
    return Running(command).wait(limit_seconds)


def until(deadline: float) -> float:
    """Seconds from now to a time of the monotonic clock, at least a moment."""
    return max(0.1, deadline - time.monotonic())


_RETRY_SECONDS = 0.1
"""Between two tries to reach a server that does not listen yet."""


class Limits(NamedTuple):
    """How long a server is waited for, and how long a tool may take, in seconds."""

    connect_seconds: float
    tool_seconds: float


class OutputError(ValueError):
    """A tool ended well and said nothing that can be read."""

    def __init__(self, what: str, output: str) -> None:
        """``what`` was looked for in the output."""
        said = _said(output)
        super().__init__(f"the output has no {what}" + (f"; it ends with {said[-1]!r}" if said else "; it is empty"))


class Answer(TypedDict, total=False):
    """What a client measured: figures by name, or what went wrong; from a server of a task only server_error.

    task: its number in the step.
    """

    task: int
    values: dict[str, float] | None
    error: str | None
    server_error: str | None


def ask(
    run_once: Callable[[], Ended],
    connect_seconds: float,
    *,
    waiting: Callable[[Ended], bool],
    figures_of: Callable[[str], dict[str, float]],
) -> Answer:
    """Run a client, again while its server does not listen yet; figures_of reads its output, and raises OutputError."""
    give_up = time.monotonic() + connect_seconds
    ended = run_once()
    while waiting(ended) and time.monotonic() < give_up:
        time.sleep(_RETRY_SECONDS)
        ended = run_once()
    if ended.error:
        return {"values": None, "error": ended.error}
    try:
        return {"values": figures_of(ended.output), "error": None}
    except OutputError as error:
        return {"values": None, "error": f"{ended.command}: {error}"}
