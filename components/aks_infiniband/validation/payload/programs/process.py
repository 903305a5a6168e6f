"""Programs run with a time limit: what hangs is killed, with all that it started, and that is said."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import IO, NamedTuple

OUTPUT_BYTES = 65536
"""The part of a program's output that is kept: the end, with results and errors."""


class Ended(NamedTuple):
    """The end of a program: its exit code, None when it was killed at its limit or could not be started."""

    command: str
    code: int | None
    output: str
    error: str | None
    """In words, what went wrong; None when it ended well."""


_BY_LINE = ("stdbuf", "-oL")
"""Coreutils' stdbuf(1). C's library buffers in blocks what goes into a file; with stdbuf it comes line by line. A tool
that is killed has then said what it had to say.
"""


class Running:
    """A program that has been started, in a separate process group."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str] | None = None,
        *,
        cpus: Collection[int] = (),
        by_line: bool = False,
    ) -> None:
        """Start it, by default with our own environment, on any CPU. A program that cannot be started counts as ended
        at once.

        by_line: have its output line by line, if the image has stdbuf.
        """
        self._name = os.path.basename(command[0])  # noqa: PTH119 a name, not a file
        self._began = time.monotonic()
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 closed by _end
        self._process: subprocess.Popen[bytes] | None = None
        self._problem = ""
        try:
            self._process = subprocess.Popen(
                [*(_BY_LINE if by_line and all(map(shutil.which, (_BY_LINE[0], command[0]))) else ()), *command],
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
        """True if it has not ended yet."""
        return self._process is not None and self._process.poll() is None

    @property
    def failed(self) -> bool:
        """True if it has ended, and not well."""
        return self._process is None or bool(self._process.poll())

    def wait(self, limit_seconds: float) -> Ended:
        """Wait until it ends, or kill it when its time is up."""
        if self._process is None:
            return self._end(None, self._problem)
        try:
            code = self._process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            return self.kill()
        if code == 0:
            return self._end(0, None)
        how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
        return self._end(code, f"{self._name} {how}")

    def kill(self) -> Ended:
        """End it now, and say how long it has had."""
        seconds = time.monotonic() - self._began
        self._kill()
        return self._end(None, f"{self._name} did not end within {seconds:.0f} s and was killed")

    @property
    def seconds(self) -> float:
        """Time that it has run."""
        return time.monotonic() - self._began

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
    """The lines of an output, without those that only draw a rule."""
    return [line.strip() for line in output.splitlines() if line.strip(" -*\t")]


def with_words(error: str, output: str) -> str:
    """An error with what the program said of it: its first complaints, or the last thing that it said at all."""
    said = _said(output)
    telling = [line for line in said if _TELLING.search(line)][:_LINES] or said[-1:]
    return f"{error}: {'; '.join(telling)}" if telling else error


def run_to_end(command: Sequence[str], limit_seconds: float) -> Ended:
    """Run a program to its end, or to its limit."""
    return Running(command).wait(limit_seconds)


def until(deadline: float) -> float:
    """Seconds from now to a time of the monotonic clock, at least a moment."""
    return max(0.1, deadline - time.monotonic())


class OutputError(ValueError):
    """A tool ended well, but its output cannot be read."""

    def __init__(self, what: str, output: str) -> None:
        """``what`` was looked for in the output."""
        said = _said(output)
        super().__init__(f"the output has no {what}" + (f"; it ends with {said[-1]!r}" if said else "; it is empty"))
