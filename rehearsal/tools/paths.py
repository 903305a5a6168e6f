"""Where the built programs are."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SOURCES = Path(__file__).resolve().parent
TOOLS = PROJECT / ".tools"
"""All that is built or downloaded; ignored by git."""
BIN = TOOLS / "bin"
PLUGINS = TOOLS / "plugins"
"""A `plugins` folder in the layout of PULUMI_HOME/plugins: link to it, or copy it."""


class ToolMissingError(Exception):
    """A program that has not been built."""


def tool(name: str) -> Path:
    """The path of a built program. Raises ToolMissingError when it has not been built."""
    path = BIN / name
    if not path.exists():
        raise ToolMissingError(f"{name} is not built ({path} does not exist): run `make tools`")
    return path
