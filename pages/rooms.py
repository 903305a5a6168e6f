"""Draws the rooms of each package and the imports between them into the contributors' pages: `make docs`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import grimp

_PROJECT: Final = Path(__file__).parents[1]
PAGES: Final[Mapping[Path, tuple[str, ...]]] = {
    _PROJECT / "CONTRIBUTING.md": ("aks_infiniband", "aks_infiniband_cli"),
    _PROJECT / "rehearsal/CONTRIBUTING.md": ("rehearsal",),
}
"""By page, the packages whose rooms it shows."""
PACKAGES: Final = tuple(package for packages in PAGES.values() for package in packages)

Imports = Mapping[str, frozenset[str]]
"""By room, the rooms that it imports."""


def imports_between_rooms(package: str) -> Imports:
    """The imports between a package's rooms at run time, those inside functions included.

    A room is a folder or a module at the package's top; `__main__` is the door, and no room.
    """
    graph = grimp.build_graph(package, exclude_type_checking_imports=True)
    rooms = graph.find_children(package) - {f"{package}.__main__"}
    for room in rooms:
        graph.squash_module(room)
    return {
        room.removeprefix(f"{package}."): frozenset(
            other.removeprefix(f"{package}.")
            for other in (graph.find_modules_directly_imported_by(room) & rooms) - {room}
        )
        for room in sorted(rooms)
    }


def upward(imports: Imports) -> set[tuple[str, str]]:
    """The imports that are part of a circle; none if every arrow points one way."""
    below = {room: _reachable(room, imports) for room in imports}
    return {(room, other) for room in imports for other in imports[room] if room in below[other]}


def diagram(imports: Imports) -> str:
    """A Mermaid flow chart; an arrow that follows from others is left out, so that the picture can be read."""
    lines = ["```mermaid", "flowchart TD"]
    lines += [f"    {room}" for room in sorted(imports)]
    for room in sorted(imports):
        implied = {far for near in imports[room] for far in _reachable(near, imports)}
        lines += [f"    {room} --> {other}" for other in sorted(imports[room] - implied)]
    return "\n".join([*lines, "```"])


def drawn(page: Path) -> str:
    """The page's text with the diagram of each of its packages between two markers."""
    text = page.read_text()
    for package in PAGES[page]:
        start, end = f"<!-- rooms of {package} -->", f"<!-- end of {package} -->"
        above, rest = text.split(start)
        _, below = rest.split(end)
        text = f"{above}{start}\n{diagram(imports_between_rooms(package))}\n{end}{below}"
    return text


def _reachable(room: str, imports: Imports) -> set[str]:
    rooms: set[str] = set()
    ahead = list(imports[room])
    while ahead:
        other = ahead.pop()
        if other not in rooms:
            rooms.add(other)
            ahead += imports[other]
    return rooms
