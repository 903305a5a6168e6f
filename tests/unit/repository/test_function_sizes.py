"""Functions stay small enough to be read in one go, and the payload typed."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("components", "command_line", "rehearsal", "benchmark", "declared", "pages")
MOST_LINES_OF_A_FUNCTION = 50
MOST_ANY_IN_THE_PAYLOAD = 20


def modules() -> list[Path]:
    return [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Each function's name and its lines, docstring included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def test_no_function_is_longer_than_50_lines() -> None:
    long = {
        f"{path.relative_to(ROOT)}: {name}": lines
        for path in modules()
        for name, lines in functions(path.read_text())
        if lines > MOST_LINES_OF_A_FUNCTION
    }

    assert long == {}


def test_a_function_is_measured_from_its_first_line_to_its_last() -> None:
    assert list(functions("def f() -> None:\n    '''What.'''\n    pass\n")) == [("f", 3)]


def test_what_runs_in_the_pods_is_typed() -> None:
    payload = ROOT / "components/aks_infiniband/validation/payload"
    names = [
        node
        for path in payload.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]

    assert len(names) <= MOST_ANY_IN_THE_PAYLOAD
