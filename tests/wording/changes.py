"""The lines that changed since the ceilings did, by git."""

import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Final

from tests.wording.text import Text

_FILE: Final = re.compile(r"^\+\+\+ b/(.*)$")
_HUNK: Final = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class Changes:
    """Lines that are not as they were in the commit that last changed a file; every line if git does not know."""

    def __init__(self, root: Path, since_change_of: Path) -> None:
        self._lines: dict[str, set[int]] = defaultdict(set)
        self._untracked: set[str] = set()
        try:
            commit = _git(root, "log", "-1", "--format=%H", "--", str(since_change_of)).strip()
            self._known = bool(commit)
            if commit:
                self._read(_git(root, "diff", "--unified=0", "--no-color", "--no-ext-diff", commit))
                self._untracked = set(_git(root, "ls-files", "--others", "--exclude-standard").splitlines())
        except (OSError, subprocess.CalledProcessError):
            self._known = False

    def _read(self, diff: str) -> None:
        file = ""
        for line in diff.splitlines():
            if named := _FILE.match(line):
                file = named[1]
            elif hunk := _HUNK.match(line):
                first, count = int(hunk[1]), int(hunk[2] or 1)
                self._lines[file].update(range(first, first + count))

    def touch(self, text: Text) -> bool:
        """True if a text is new or changed."""
        if not self._known or text.file in self._untracked:
            return True
        return not self._lines[text.file].isdisjoint(range(text.first_line, text.last_line + 1))


def _git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout
