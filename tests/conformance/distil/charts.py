"""A chart's default values as paths, as `helm --set` writes them, and the images of a release."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

_COMMENTED_OUT = re.compile(r'( *)# ?(\w+): (?:\[\]|\{\}|"")$')
_NAMED = re.compile(r"( *)([\w-]+):")


def values(text: str) -> dict[str, Any]:
    """Every default by its path, and the paths of those that stand, empty, in a comment only."""
    return {
        "defaults": dict(_paths(yaml.load(text, Loader=yaml.CSafeLoader))),
        "commented-out": list(_commented_out(text)),
    }


def components(text: str) -> dict[str, Any]:
    """The image of every component of a release."""
    found = yaml.load(text, Loader=yaml.CSafeLoader)
    return {"images": {name: f"{part['repository']}/{part['image']}:{part['version']}" for name, part in found.items()}}


def _paths(values: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        path = above + name.replace(".", r"\.")
        if isinstance(value, dict) and value:
            yield from _paths(value, f"{path}.")
        else:
            yield path, value


def _commented_out(text: str) -> Iterator[str]:
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        commented = _COMMENTED_OUT.match(line)
        named = commented or _NAMED.match(line)
        if named is None:
            continue
        indent = len(named[1])
        above = [(column, name) for column, name in above if column < indent]
        if commented:
            yield ".".join([*(name for _, name in above), named[2]])
        else:
            above.append((indent, named[2]))
