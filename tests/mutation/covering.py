"""The tests of a changed line: what cosmic-ray runs for each change, in its worktree."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from coverage import CoverageData

CONTEXTS: Final = "contexts.sqlite"
"""File in which coverage.py has written which test runs which line."""
FALLBACK: Final = (
    *("tests/unit/recordings", "tests/unit/settings", "tests/unit/components", "tests/unit/workload"),
    *("tests/unit/provider", "tests/conformance", "tests/unit/diagnosis", "tests/unit/validation"),
    *("tests/unit/observability", "tests/unit/light_check", "tests/unit/command_line"),
)
"""The tests that run if no test is known: those that notice most come first."""
NOT_PYTHON: Final = "this is not Python"
NO_TEST: Final = "no tests ran"
"""The words of pytest if it lacks what it is to run."""
_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")
_NEAR: Final = 8
"""Lines above the change in which its statement may begin."""


def environment(tree: Path) -> dict[str, str]:
    """That of a test in another tree than the one that is installed."""
    return {**os.environ, "PYTHONPATH": ":".join([str(tree / "components"), str(tree / "command_line"), str(tree)])}


def changed() -> Iterator[tuple[Path, int]]:
    """The lines that differ from the commit, by their number before."""
    diff = subprocess.run(["git", "diff", "--unified=0"], check=True, capture_output=True, text=True).stdout
    file = Path()
    for line in diff.splitlines():
        if line.startswith("--- a/"):
            file = Path(line.removeprefix("--- a/"))
        elif found := _HUNK.match(line):
            first, count = int(found[1]), int(found[2] or 1)
            yield from ((file, number) for number in range(first, first + max(count, 1)))


def tests_of(data: CoverageData) -> list[str]:
    """The tests that run a changed line. If it runs at import, those that run any line of its file; if there is none,
    all. A line that a property's examples run is hypothesis' own to coverage.py, which names no test for it.
    """
    names = set[str]()
    for file, number in changed():
        contexts = data.contexts_by_lineno(str(file.absolute()))
        found = next((contexts[line] for line in range(number, number - _NEAR, -1) if line in contexts), [])
        at_import = "" in found or not found
        names.update({name for line in contexts.values() for name in line} if at_import else found)
    nodes = sorted(_node(name) for name in names if name.startswith("tests."))
    return sorted(nodes, key=_place) or list(FALLBACK)


def _place(node: str) -> int:
    """The order of a test: the folders that notice most come first."""
    return next((place for place, folder in enumerate(FALLBACK) if node.startswith(folder)), len(FALLBACK))


def _node(context: str) -> str:
    module, _, function = context.rpartition(".")
    return f"{module.replace('.', '/')}.py::{function}"


def main() -> None:
    """Run them until the first one fails. The output names a change after which the file is not Python."""
    for file in {file for file, _ in changed()}:
        try:
            compile(file.read_text(encoding="utf-8"), str(file), "exec")
        except SyntaxError:
            print(NOT_PYTHON)  # cosmic-ray keeps the standard output alone
            sys.exit(1)
    data = CoverageData(sys.argv[1])
    data.read()
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests_of(data)]
    sys.exit(subprocess.run(pytest, env=environment(Path.cwd()), check=False).returncode)


if __name__ == "__main__":
    main()
