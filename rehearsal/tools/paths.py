"""The paths of the built programs."""

from __future__ import annotations

from pathlib import Path

from rehearsal.tools import cache
from rehearsal.tools.pins import PROJECT

__all__ = ["BIN", "PLUGINS", "PROJECT", "ToolMissingError", "tool"]

TOOLS = cache.folder()
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
