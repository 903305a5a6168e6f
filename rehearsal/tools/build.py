"""Builds the pinned programs if this machine has none of these pins yet: `python -m rehearsal.tools.build`.

One after the other with all cores, because they share packages; modules are fetched ahead. Everything happens in a
draft next to the cache's folder, which is renamed when all of it is there. The module and build caches are the build's
own, in the draft, and are deleted at the end: they take gigabytes.
"""

from __future__ import annotations

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
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path

from rehearsal.tools import cache, overlay, packaged
from rehearsal.tools.cache import CacheError
from rehearsal.tools.go import GoError, find_go
from rehearsal.tools.pins import PinError
from rehearsal.tools.progress import LISTING, Progress, in_minutes, read_listing
from rehearsal.tools.recipes import FLAGS, Recipe, recipes

PROGRESS_EVERY_S = 20.0
AT_ONCE = 1200
"""Packages that one go command compiles. The command keeps its output twice until it ends: a megabyte a package."""
LAST_LINES = 15


class BuildError(Exception):
    """The programs could not be built. The message says why, and names the log."""


class Build:
    """One run of the build, in a draft folder."""

    def __init__(self, go: Path, draft: Path) -> None:
        self._go = go
        self._draft = draft
        self._work = work = draft / "build"
        self._logs = draft / "logs"
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []
        self._fetched: dict[str, Future[list[str]]] = {}
        """When a program's modules are there: the flags that put our own files among theirs."""
        self._progress = Progress()
        self._begun = time.monotonic()
        self._environment = os.environ | {
            "CGO_ENABLED": "0",
            "GOCACHE": str(work / "cache"),
            "GOMODCACHE": str(work / "modules"),
            "GOTMPDIR": str(work / "tmp"),
            "GOTOOLCHAIN": "local",
            "GOWORK": "off",
            "GOGC": os.environ.get("GOGC", "200"),  # the compiler collects less often: faster, for a tenth more memory
        }
        for folder in (work / "tmp", self._logs):
            folder.mkdir(parents=True, exist_ok=True)

    def run(self, wanted: Sequence[Recipe]) -> None:
        """Builds the programs. Raises BuildError for the first that fails, and stops the others."""
        self._fetched = {recipe.name: Future() for recipe in wanted}
        steps: tuple[Callable[[Recipe], None], ...] = (self._fetch, self._build)
        lanes = [threading.Thread(target=self._run_lane, args=(step, wanted), daemon=True) for step in steps]
        try:
            for lane in lanes:
                lane.start()
            while any(lane.is_alive() for lane in lanes) and not self._failures:
                time.sleep(0.2)
        finally:
            self._stop()
            for lane in lanes:
                lane.join()
        if self._failures:
            raise self._failures[0]

    def _run_lane(self, step: Callable[[Recipe], None], lane: Sequence[Recipe]) -> None:
        try:
            for recipe in lane:
                step(recipe)
        except BaseException as error:  # the main thread raises it again
            if not self._stopped.is_set():
                self._failures.append(error)
            for fetched in self._fetched.values():
                fetched.cancel()

    def _fetch(self, recipe: Recipe) -> None:
        """Fetches the modules of a program, without those of what it leaves out, and lists its packages."""
        log = self._logs / f"{recipe.name}.modules.log"
        flags = overlay.prepare(recipe.module, self._work, lambda package: self._source(recipe, log, package))
        listing = self._output(recipe, log, ["list", *FLAGS[:3], *flags, "-deps", "-f", LISTING, recipe.package])
        for archive in (self._work / "modules/cache/download").rglob("*.zip"):
            archive.unlink()  # unpacked; only this lane fetches modules
        self._progress.add(recipe.name, read_listing(listing))
        self._fetched[recipe.name].set_result(flags)

    def _build(self, recipe: Recipe) -> None:
        flags = self._fetched[recipe.name].result()
        begun = time.monotonic()
        log = self._logs / f"{recipe.name}.log"
        log.unlink(missing_ok=True)
        built = self._work / recipe.name
        link_flags = f"-ldflags={recipe.link_flags}"
        with self._reports(recipe, log):
            for packages in self._earlier_parts(recipe):
                self._call(recipe, log, ["build", *FLAGS, *flags, *packages])
            self._call(recipe, log, ["build", *FLAGS, *flags, link_flags, "-o", str(built), recipe.package])
        recipe.install(built, self._draft, lambda package: self._source(recipe, log, package))
        self._progress.built(recipe.name)
        print(f"tools: {recipe.name} built in {_duration(time.monotonic() - begun)}", flush=True)

    def _earlier_parts(self, recipe: Recipe) -> Iterator[list[str]]:
        """The packages that are compiled before the rest is compiled and linked. A package comes after all that it
        imports.
        """
        packages = [path for path in self._progress.programs[recipe.name] if not path.startswith("vendor/")]
        for first in range(0, len(packages) - AT_ONCE, AT_ONCE):
            yield packages[first : first + AT_ONCE]

    def _source(self, recipe: Recipe, log: Path, package: str) -> Path:
        """The folder of the module of a package. (`go mod download` needs more than every proxy has.)"""
        answer = self._output(recipe, log, ["list", *FLAGS[:3], "-find", "-f", "{{.Module.Dir}}", package])
        return Path(answer.strip())

    def _output(self, recipe: Recipe, log: Path, arguments: Sequence[str]) -> str:
        with tempfile.TemporaryFile(dir=self._work) as answer:
            self._call(recipe, log, arguments, output=answer.fileno())
            answer.seek(0)
            return answer.read().decode()

    def _call(self, recipe: Recipe, log: Path, arguments: Sequence[str], *, output: int | None = None) -> None:
        """Runs go, with its messages in the log. Raises BuildError when it fails."""
        if self._stopped.is_set():
            raise BuildError(f"{recipe.name}: stopped")
        with log.open("ab") as messages:
            process = subprocess.Popen(
                [str(self._go), *arguments],
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
                "The finished part is kept: start again to continue from there."
            )

    @contextmanager
    def _reports(self, recipe: Recipe, log: Path) -> Iterator[None]:
        """Says every now and then how far the build is, and what it has left."""
        done = threading.Event()

        def report() -> None:
            while not done.wait(PROGRESS_EVERY_S):
                compiled, total = self._progress.compiled(recipe.name, log.read_text(errors="replace"))
                left = self._progress.left_s(time.monotonic() - self._begun)
                known = left is not None and all(fetched.done() for fetched in self._fetched.values())
                rest = in_minutes(left) if left is not None and known else "fetching the other programs' modules"
                print(f"tools: {recipe.name}, {compiled} of {total} packages; {rest}", flush=True)

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


def build() -> None:
    """Builds what is missing. Raises BuildError, CacheError, GoError or PinError."""
    folder = cache.folder()
    if cache.complete(folder):
        return
    cache.own(folder.parent)
    with cache.alone(folder):
        if cache.complete(folder):
            return
        if folder.exists():
            print(f"tools: {folder} is not as it was built; building it again", flush=True)
            shutil.rmtree(folder)
        if not _taken(folder):
            _build_into(folder)


def _taken(folder: Path) -> bool:
    """Take the programs that a release has built, if they are installed and are those that are wanted."""
    installed = packaged.found()
    if installed is None:
        return False
    draft = folder.with_suffix(".taken")
    shutil.rmtree(draft, ignore_errors=True)
    cache.own(draft)
    if refused := packaged.take(installed, draft, folder.name):
        print(f"tools: {refused}; building them", flush=True)
        shutil.rmtree(draft, ignore_errors=True)
        return False
    draft.rename(folder)
    print(f"tools: taken from {packaged.PACKAGE.replace('_', '-')}", flush=True)
    return True


def _build_into(folder: Path) -> None:
    draft = folder.with_suffix(".draft")
    cache.own(draft)
    begun = time.monotonic()
    wanted = [recipe for recipe in recipes() if not recipe.is_built(draft)]
    print(f"tools: building {', '.join(recipe.name for recipe in wanted)} into {folder}, once", flush=True)
    (draft / "build").mkdir(exist_ok=True)
    go = find_go(draft / "build")
    Build(go, draft).run(wanted)
    version = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout.strip()
    for leftover in (draft / "build", draft / "logs"):
        shutil.rmtree(leftover)
    cache.write_manifest(draft, go=version)
    draft.rename(folder)
    print(f"tools: all built in {_duration(time.monotonic() - begun)}", flush=True)


def main() -> int:
    """Builds, and says what went wrong in one message."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        build()
    except (BuildError, CacheError, GoError, PinError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("tools: interrupted; start again to continue from there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
