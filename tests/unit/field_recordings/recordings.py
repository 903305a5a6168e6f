"""The recordings in tests/field_recordings, by name."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).resolve().parents[2] / "field_recordings"


@cache
def recordings() -> dict[str, dict[str, Any]]:
    """Every recording by its name."""
    listed = [entry for file in sorted(FOLDER.glob("*.yaml")) for entry in yaml.safe_load(file.read_text())]
    found = {entry["name"]: entry for entry in listed}
    assert len(found) == len(listed), "two recordings have one name"
    return found


def recorded(file: str) -> list[dict[str, Any]]:
    """The recordings of one file."""
    entries: list[dict[str, Any]] = yaml.safe_load((FOLDER / f"{file}.yaml").read_text())
    return entries


def excerpt(name: str) -> str:
    """The printed text."""
    return str(recordings()[name]["excerpt"])
