"""One container executed as a local process: which program, which paths, where its output goes, how it ended."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from rehearsal.run.images import packages, programs_of

_SHIM: Final = Path(__file__).with_name("shim.py")
_PROGRAMS: Final = Path(__file__).parents[1] / "bin"
_DISTRIBUTION: Final = Path(__file__).parents[1] / "distribution"
"""What stands in for programs of the image's distribution: apt-get, which would change this computer, and sleep."""
_OURS: Final = Path(__file__).parents[2]
_OF_THIS_COMPUTER: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/nix/store"),
    *(f"/proc/{name}" for name in ("cpuinfo", "filesystems", "loadavg", "meminfo", "self", "stat", "sys", "uptime")),
)
"""What a program needs of the operating system. No person's files are among it, and no other process."""
_DEVICES: Final = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom"))
# The end of a termination message (kubernetes, pkg/util/tail), and what a kubelet falls back to of the log:
_MESSAGE_BYTES: Final = 4096
_LOG_BYTES: Final = 2048
_LOG_LINES: Final = 80
# PATH of an ordinary image, so that what the machine's programs start in turn is found.
_IMAGE_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@dataclass(frozen=True, kw_only=True)
class Programs:
    """The programs that a container has: in most images all that there are, those of the folder bin and Python."""

    folders: tuple[Path, ...]
    image_path: str = _IMAGE_PATH
    """Where else the container looks: on this computer."""

    @classmethod
    def prepared(cls, folder: Path) -> "Programs":
        """Programs with Python linked into a folder: the interpreter alone, without this project's packages."""
        folder.mkdir(parents=True, exist_ok=True)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        interpreter = Path(sys.base_prefix) / "bin" / version
        for name in ("python3", "python"):
            link = folder / name
            link.unlink(missing_ok=True)
            link.symlink_to(interpreter)
        return cls(folders=(_PROGRAMS, folder))

    def of(self, image: str, container: Path, *, reachable: bool) -> "Programs":
        """Those of an image, and in the container's folder what its apt-get installs.

        reachable: whether the container reaches the distribution's packages.
        """
        names = programs_of(image)
        if names is None:
            return self
        folder, repository = fresh_folder(container / "bin"), fresh_folder(container / "packages")
        fresh_folder(container / "lib")
        for name in names:
            found = shutil.which(name, path=f"{_DISTRIBUTION}:{_IMAGE_PATH}")
            if found:
                (folder / name).symlink_to(found)
        for package, files in packages().items() if reachable else ():
            for file in files:
                link = repository / package / file
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(self.resolve(link.name) or "/dev/null")
        return Programs(folders=(folder,), image_path="")

    def resolve(self, command: str) -> Path | None:
        """The program that a container's command means, or None when a simulated machine has no such program."""
        name = Path(command).name
        found = (folder / name for folder in self.folders if (folder / name).is_file())
        return next((path for path in found if os.access(path, os.X_OK)), None)

    def search_path(self, given: str | None) -> str:
        """PATH of a container: the machine's programs, then the container's own."""
        return ":".join(filter(None, [*map(str, self.folders), given or self.image_path]))


def rewritten(text: str, paths: Mapping[str, Path]) -> str:
    """A text with every path of the container that begins one of its words replaced by where it really is.

    A path counts where it is not the continuation of another one (/data/dev is not /dev), and ends at a separator.
    """
    longest_first = sorted(paths, key=len, reverse=True)
    pattern = "|".join(re.escape(path) for path in longest_first)
    if not pattern:
        return text
    return re.sub(rf"(?<![\w.\-/])({pattern})(?![\w.\-])", lambda match: str(paths[match[1]]), text)


@dataclass(frozen=True, kw_only=True)
class Confinement:
    """What a container may reach of this computer, where the kernel has Landlock.

    reads: what it may read of the run folder; writes: what it may write; each with all below. port: the API server's.
    """

    reads: tuple[Path, ...]
    writes: tuple[Path, ...]
    port: int

    def limits(self, *writes: Path) -> str:
        """As the shim takes it. writes: what the container may write beside."""
        return json.dumps(
            {
                "reads": [*_OF_THIS_COMPUTER, sys.base_prefix, str(_OURS), *map(str, self.reads)],
                # Python finds a package in a folder that it can list: that of the simulated tools is `rehearsal`.
                "lists": [str(_OURS.parent)],
                "writes": [*_DEVICES, *map(str, (*self.writes, *writes))],
                "ports": [self.port],
            }
        )


@dataclass(frozen=True, kw_only=True)
class ContainerStart:
    """How a container is started."""

    command: list[str] | None
    """None: the machine has no such program."""
    environment: dict[str, str]
    folder: Path
    message_file: Path
    memlock: int | None
    """RLIMIT_MEMLOCK in bytes; None: no limit."""
    confinement: Confinement


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
            limits = how.confinement.limits(log)
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", str(_SHIM), str(os.getpid()), limit, limits, *command),
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
        """Wait for the end; 128 + N where signal N ended it, as container runtimes report it."""
        code = await self.process.wait()
        return code if code >= 0 else 128 - code

    async def stop(self, grace_seconds: float) -> None:
        """Ask the program to end, and kill it and all it started when it does not within its grace period."""
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

    def _signal(self, number: signal.Signals) -> None:
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)


def _end(file: BinaryIO, most: int, *, since: int = 0) -> bytes:
    """The last bytes of a file, however long it is. since: where it begins."""
    file.seek(max(since, file.seek(0, os.SEEK_END) - most))
    return file.read(most)


def fresh_folder(path: Path) -> Path:
    """An empty folder at this path."""
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


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
