"""The page on the record of machines names every author and reader, as the code does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from aks_infiniband.validation.machines import ACCEPTANCE, LIGHT_CHECK

ROOT = Path(__file__).parents[3]
COMMANDS = ROOT / "command_line" / "aks_infiniband_cli"
_RECORD = ("aks_infiniband.validation.machines", "aks_infiniband_cli.validate.records")
_WRITES = ("keep_measured", "keep_decision", "set_condition", "measured_with_neighbour", "Run")


def rows(heading: str) -> list[list[str]]:
    """The rows of the table with this first heading."""
    text = (ROOT / "docs" / "validate.md").read_text(encoding="utf-8")
    _, _, rest = text.partition(f"| {heading} |")
    lines = rest.partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def modules() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(COMMANDS.rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def authors() -> set[str]:
    """Every author that the command line hands to the record."""
    found = {"validate"}  # Run's default
    for path, tree in modules():
        named = {
            target.id: node.value.value
            for node in ast.walk(tree)
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Constant)
            for target in [node.target]
            if isinstance(target, ast.Name)
        }
        for call in [node for node in ast.walk(tree) if isinstance(node, ast.Call)]:
            if getattr(call.func, "id", getattr(call.func, "attr", "")) not in _WRITES:
                continue
            for keyword in [keyword for keyword in call.keywords if keyword.arg == "by"]:
                if isinstance(keyword.value, ast.Constant):
                    found.add(str(keyword.value.value))
                elif isinstance(keyword.value, ast.Name) and keyword.value.id in named:
                    found.add(str(named[keyword.value.id]))
                else:
                    assert path.name in ("measuring.py", "run.py"), f"{path}: who writes there?"
    return found


def readers() -> set[str]:
    """The rooms of the command line that read the record or its words."""
    found = set()
    for path, tree in modules():
        room = path.relative_to(COMMANDS).parts
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in _RECORD:
                name = room[1] if room[0] in ("bad_machines", "machine_by_machine") else room[0]
                found.add("mcp" if name == "assistant" else name)
    return found - {"validate"}  # it keeps the record for the others


def test_the_page_names_every_author_of_measurements_and_decisions() -> None:
    named = {name for row in rows("who measures or decides") for name in re.findall(r"`([^`]+)`", row[0])}
    assert named == authors() | {ACCEPTANCE, LIGHT_CHECK}


def test_the_page_names_every_command_that_reads() -> None:
    named = {name.split()[0] for row in rows("who reads") for name in re.findall(r"`([^`]+)`", row[0])}
    assert named == readers()
    others = " ".join(row[0] for row in rows("who reads"))
    assert "light check" in others
    assert "metrics" in others
