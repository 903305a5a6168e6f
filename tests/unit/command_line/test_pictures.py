"""The pictures in the README of the two commands that people use first."""

from pathlib import Path

import pytest

from tests.pictures.commands import draw_both

DOCS = Path(__file__).parents[3] / "docs"


def test_the_pictures_are_what_the_commands_show(tmp_path: Path) -> None:
    draw_both(tmp_path)
    for name in ("init.svg", "preflight.svg"):
        drawn, kept = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path, DOCS))
        if drawn != kept:
            pytest.fail(f"docs/{name} is out of date: .venv/bin/python -m tests.pictures.commands", pytrace=False)
