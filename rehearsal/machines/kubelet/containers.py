"""Runs one container as a local process, and knows its paths, its output and its end."""

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

_SHIM: Final = Path(__file__).with_name("shim.py")
_OURS: Final = Path(__file__).parents[2]
_OF_THIS_COMPUTER: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix/store"),
    *(f"/proc/{name}" for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "self", "stat", "sys", "uptime")),
)
"""The parts of the operating system that a program needs. No person's files are among it, and no other process."""
_DEVICES: Final = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
# The end of a termination message (kubernetes, pkg/util/tail), and what a kubelet falls back to of the log:
_MESSAGE_BYTES: Final = 4096
_LOG_BYTES: Final = 2048
_LOG_LINES: Final = 80
_NOT_FOUND: Final = 127
"""Exit code of a shell that was to run a program which is not there (POSIX, "Exit Status for Commands")."""
_SHELL_LACKS: Final = re.compile(rb"^(?:/\S*/)?(?:ba)?sh: (?:.*: )?([^\s:]+): (?:command )?not found$", re.MULTILINE)
"""The words of dash 0.5.12 and bash 5.2 on such a program; a script may continue after it."""


def rewritten(text: str, paths: Mapping[str, Path]) -> str:
    """Replace each path of the container that begins a word of a text by its real path.

    A path counts if it is not the continuation of another one (/data/dev is not /dev), and ends at a separator.
    """
    longest_first = sorted(paths, key=len, reverse=True)
    pattern = "|".join(re.escape(path) for path in longest_first)
    if not pattern:
        return text
    return re.sub(rf"(?<![\w.\-/])({pattern})(?![\w.\-])", lambda match: str(paths[match[1]]), text)


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """The parts of this computer that a container may reach, if the kernel has Landlock.

    reads: what it may read of the run folder; writes: what it may write; each with all below. port: the API server's.
    """

    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    port: int

    def limits(self, *writes: Path) -> list[str]:
        """As the shim takes them. writes: further files that the container may write."""
        return [
            *(f"reads={path}" for path in (*_OF_THIS_COMPUTER, sys.base_prefix, _OURS, *self.reads)),
            # Python finds a package in a folder that it can list: that of the simulated tools is `rehearsal`.
            f"lists={_OURS.parent}",
            *(f"writes={path}" for path in (*_DEVICES, *self.writes, *writes)),
            f"ports={self.port}",
        ]


@dataclass(frozen=True, kw_only=True)
class ContainerStart:
    """The start of a container."""

    command: list[str] | None
    """None: the machine lacks the program."""
    environment: dict[str, str]
    folder: Path
    message_file: Path
    memlock: int | None
    """RLIMIT_MEMLOCK in bytes; None: no limit."""
    confinement: Confinement
    lacking: bool = False
    """True if it may call programs that its image has, and that are not here."""


@dataclass(kw_only=True)
class ContainerProcess:
    """A container's process, from its start to its exit code."""

    process: asyncio.subprocess.Process
    log: Path
    log_start: int
    message_file: BinaryIO
    """Open from before the start: what the program puts in its place later is not looked at."""
    fall_back_to_log: bool
    _stopping: bool = field(default=False)

    @classmethod
    async def start(
        cls, command: Sequence[str], how: ContainerStart, *, log: Path, fall_back_to_log: bool
    ) -> "ContainerProcess":
        """Start a program; its output is appended to the log.

        This computer's own limit of locked memory stays above the container's.
        """
        memlock = how.memlock
        log.parent.mkdir(parents=True, exist_ok=True)
        message_file = how.message_file.open("x+b")
        with log.open("ab") as output:
            start = output.tell()
            limit = "-1" if memlock is None else str(memlock)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_SHIM), str(os.getpid()), limit),
                *(*how.confinement.limits(log), "--", *command),
                env=how.environment,
                cwd=how.folder,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return cls(
            process=process,
            log=log,
            log_start=start,
            message_file=message_file,
            fall_back_to_log=fall_back_to_log,
        )

    async def exit_code(self) -> int:
        """Wait for the end; returns 128 + N if signal N ended it, as container runtimes report it."""
        code = await self.process.wait()
        return code if code >= 0 else 128 - code

    async def stop(self, grace_seconds: float) -> None:
        """Signal the program to end, and kill it and all it started when it does not within its grace period."""
        self._signal(signal.SIGTERM if grace_seconds > 0 else signal.SIGUSR1)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), grace_seconds or None)
        self._signal(signal.SIGUSR1)
        await self.process.wait()

    def kill(self) -> None:
        """Kill the program and all it started, without waiting."""
        self._signal(signal.SIGUSR1)

    def message(self, exit_code: int) -> str:
        """The termination message, by the container's terminationMessagePolicy."""
        with self.message_file as file:
            text = _end(file, _MESSAGE_BYTES)
        if not text and self.fall_back_to_log and exit_code != 0:
            with self.log.open("rb") as output:
                text = _end(output, _LOG_BYTES, since=self.log_start)
                text = b"".join(text.splitlines(keepends=True)[-_LOG_LINES:])
        return text.decode(errors="replace")

    def lacked(self, exit_code: int) -> str | None:
        """Name the program that a shell was to run and did not find; None if it did not fail for that."""
        if exit_code == 0:
            return None
        with self.log.open("rb") as output:
            match = _SHELL_LACKS.search(_end(output, _LOG_BYTES, since=self.log_start))
        if match:
            return match[1].decode(errors="replace")
        return "program that its script calls" if exit_code == _NOT_FOUND else None

    def _signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)


def _end(file: BinaryIO, most: int, *, since: int = 0) -> bytes:
    """The last bytes of a file, however long it is. since: its beginning."""
    file.seek(max(since, file.seek(0, os.SEEK_END) - most))
    return file.read(most)


def mounts(
    container: Mapping[str, object], volumes: Mapping[str, Path], own: Mapping[str, Path]
) -> Iterator[tuple[str, Path]]:
    """Every path of a container that is somewhere else on this computer: the container's own, then its mounts."""
    yield from own.items()
    entries = container.get("volumeMounts") or []
    assert isinstance(entries, list)
    for mount in entries:
        source = volumes[mount["name"]]
        yield mount["mountPath"].rstrip("/") or "/", source / mount["subPath"] if mount.get("subPath") else source
