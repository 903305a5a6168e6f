"""Programs run with a time limit: what hangs is killed, with all that it started, and that is said.

Clients run side by side. One whose server does not listen yet is run again.
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


_LOOK_SECONDS = 0.02
"""Between two looks at the clients that run."""
_RETRY_SECONDS = (0.1, 0.8)
"""Between two tries to reach a server that does not listen yet: at first, and at most. Each wait is twice as long as
the one before, and less than the second by which tools that run side by side may begin apart (perftest.SIDE_BY_SIDE).
"""


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


class _Client:
    """A program that is started again for as long as its server does not listen."""

    def __init__(self, start: Callable[[], Running], limit_seconds: float) -> None:
        self._start, self._limit_seconds = start, limit_seconds
        self._pause, self._longest_pause = _RETRY_SECONDS
        self.ended: Ended | None = None
        self._begin()

    def _begin(self) -> None:
        self._running: Running | None = self._start()
        self._until = time.monotonic() + self._limit_seconds

    def look(self, again: Callable[[Ended], bool]) -> None:
        """See whether it has ended, or has to be killed or started again."""
        time_is_up = time.monotonic() >= self._until
        if self._running is None:
            if time_is_up:
                self._begin()
        elif time_is_up or not self._running.running:
            ended = self._running.wait(until(self._until))
            if again(ended):
                self._running, self._until = None, time.monotonic() + self._pause
                self._pause = min(2 * self._pause, self._longest_pause)
            else:
                self.ended = ended


def ask(
    starts: Sequence[Callable[[], Running]],
    limits: Limits,
    *,
    waiting: Callable[[Ended], bool],
    figures_of: Callable[[str], dict[str, float]],
) -> list[Answer]:
    """Run clients side by side, each again while its server does not listen yet; returns an answer for each.

    figures_of reads an output, and raises OutputError.
    """
    give_up = time.monotonic() + limits.connect_seconds
    clients = [_Client(start, limits.tool_seconds) for start in starts]
    while any(client.ended is None for client in clients):
        time.sleep(_LOOK_SECONDS)
        for client in clients:
            if client.ended is None:
                client.look(lambda ended: waiting(ended) and time.monotonic() < give_up)
    return [_answer(client.ended, figures_of) for client in clients if client.ended]


def _answer(ended: Ended, figures_of: Callable[[str], dict[str, float]]) -> Answer:
    if ended.error:
        return {"values": None, "error": ended.error}
    try:
        return {"values": figures_of(ended.output), "error": None}
    except OutputError as error:
        return {"values": None, "error": f"{ended.command}: {error}"}
