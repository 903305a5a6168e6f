"""Pictures in the documents show what they show wherever they are looked at."""

import re
from pathlib import Path

import pytest

from pages.picture import svg_format

_DOCS = Path(__file__).parents[3] / "docs"
_LOADED = re.compile(r"@font-face|@import|(?:href|src)=|url\((?!#)")
"""The parts that make a reader's browser load a file: everything except references within the picture."""


@pytest.mark.parametrize("picture", sorted(_DOCS.glob("*.svg")), ids=lambda picture: picture.name)
def test_a_picture_loads_nothing(picture: Path) -> None:
    assert not _LOADED.findall(picture.read_text(encoding="utf-8"))


def test_the_next_drawing_loads_nothing_either() -> None:
    assert not _LOADED.findall(svg_format())
    assert "monospace" in svg_format()
