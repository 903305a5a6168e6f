"""docs/field-reports.md and the tests that carry its rows' names.

`python -m tests.field_reports` writes the last column of its tables: which tests carry which row.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "field-reports.md"
DONE = ("prevented", "detected", "explained")
"""What a row can be when a test shows it; the other is `not prevented`."""
_ROW = re.compile(
    r"^\| ([A-DR]\d+[a-z]?) \| (.+) \| (prevented|detected|explained|not prevented) \| (.+) \| ?(.*?) ?\|$"
)


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    id: str
    done: str
    how: str
    tests: str


def rows(text: str) -> list[Row]:
    """The rows of the page, in their order."""
    found = filter(None, map(_ROW.match, text.splitlines()))
    return [Row(id=row[1], done=row[3], how=row[4], tests=row[5]) for row in found]


def marked() -> dict[str, set[Path]]:
    """By row, the files with tests that carry its name."""
    found: dict[str, set[Path]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.field_report":
                for argument in call.args:
                    found.setdefault(ast.literal_eval(argument), set()).add(path)
    return found


def links(files: set[Path]) -> str:
    """Links to files of tests, as the page has them; a name says which files of that name are meant."""
    relative = sorted(path.relative_to(TESTS) for path in files)
    return ", ".join(f"[{_name(path)}](../tests/{path})" for path in relative)


def _name(path: Path) -> str:
    return f"{path.parent.name}: {path.stem.removeprefix('test_').replace('_', ' ')}"


def current(text: str) -> str:
    """The page with its last column as the tests are."""
    found = marked()

    def line(text: str) -> str:
        row = _ROW.match(text)
        if row is None:
            return text
        return f"| {row[1]} | {row[2]} | {row[3]} | {row[4]} | {links(found.get(row[1], set()))} |"

    return "\n".join(map(line, text.split("\n")))


if __name__ == "__main__":
    PAGE.write_text(current(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
