"""The API reference of the library: every public name under its room, with its docstring."""

import re
from collections import defaultdict
from pathlib import Path
from typing import Final

NAME: Final = "docs/api"
_STUB: Final = Path(__file__).parents[2] / "components/aks_infiniband/__init__.pyi"
_EXPORT: Final = re.compile(r"^from \.((\w+)\S*) import (\w+) as \3$", re.MULTILINE)
_ARGUMENT: Final = re.compile(r"^(\w+(?:, \w+)*): ")
_TITLES: Final = {
    "stack": "Clusters and stack files",
    "azure": "Azure",
    "facts": "Machine sizes and releases",
    "operators": "Operators and networks",
    "hosts": "Nodes",
    "validation": "Validation",
    "light_check": "Light check",
    "observability": "Observability",
    "workload": "Workloads",
    "resources": "Options of all components",
    "access": "Kubeconfig",
}


def page() -> str:
    """The page in Markdown, with a directive of autodoc for each name."""
    rooms = defaultdict(list)
    for module, room, name in _EXPORT.findall(_STUB.read_text(encoding="utf-8")):
        rooms[room].append(_directive(module, name))
    parts = [
        "# API reference\n",
        "Every public name of `aks_infiniband`. [The library](library.md) explains how the components fit together.\n",
    ]
    for room, title in _TITLES.items():
        parts.append(f"## {title}\n")
        parts += rooms.pop(room)
    if rooms:
        raise ValueError(f"{_STUB.name} exports names of rooms without a title here: {', '.join(rooms)}")
    return "\n".join(parts)


def _directive(module: str, name: str) -> str:
    if name.isupper():  # the docstring of a constant stands in its module alone
        return f"```{{eval-rst}}\n.. autodata:: aks_infiniband.{module}.{name}\n   :no-value:\n```\n"
    kind = "autoclass" if name[0].isupper() else "autofunction"
    return f"```{{eval-rst}}\n.. {kind}:: aks_infiniband.{name}\n```\n"


def with_list(lines: list[str]) -> list[str]:
    """A docstring whose arguments, "name: text" at the margin, are a list in reStructuredText."""
    prepared: list[str] = []
    in_list = False
    for line in lines:
        begins = bool(_ARGUMENT.match(line))
        goes_on = in_list and line.startswith("    ")
        if begins != in_list and not goes_on and line and prepared[-1:] != [""]:
            prepared.append("")
        if begins:
            prepared.append(_ARGUMENT.sub(r"- `\1`: ", line))
        else:
            prepared.append(f"  {line.lstrip()}" if goes_on else line)
        in_list = begins or goes_on
    return prepared
