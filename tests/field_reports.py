"""Reports from the field, and the tests that carry their rows' names: `python -m tests.field_reports [ROW ...]`."""

import ast
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from tests.records import record

DONE: Final = ("prevented", "detected", "explained")
"""Answers that a test shows. The other answer is `not prevented`."""
_TESTS: Final = Path(__file__).parent


def rows() -> Mapping[str, Mapping[str, str]]:
    """The reports, each with the answer and how, by the row's name."""
    return {name: row for section in record("field-reports").values() for name, row in section.items()}


@cache
def marked() -> Mapping[str, list[str]]:
    """The files of the tests and cases that carry a row's name, by the name."""
    found: dict[str, set[str]] = {}
    for path in sorted(_TESTS.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "field_report" in source:
            for call in ast.walk(ast.parse(source)):
                if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.field_report":
                    for argument in call.args:
                        found.setdefault(ast.literal_eval(argument), set()).add(f"tests/{path.relative_to(_TESTS)}")
    for path in sorted(_TESTS.rglob("cases/*.yaml")):
        for case in yaml.safe_load(path.read_text(encoding="utf-8")).values():
            for name in case.get("field_reports", ()):
                found.setdefault(name, set()).add(f"tests/{path.relative_to(_TESTS)}")
    return {name: sorted(files) for name, files in found.items()}


if __name__ == "__main__":
    for name in sys.argv[1:] or rows():
        row = rows()[name]
        print(f"{name}: {row['what']}\n  {row['here']}: {row['how']}")
        print("\n".join(f"  {file}" for file in marked().get(name, [])))
