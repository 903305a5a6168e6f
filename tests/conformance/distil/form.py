"""The form of the files of facts: YAML that a reviewer can read."""

from typing import Any

import yaml

_WIDTH = 120
_LINE = 80
"""A mapping of leaves stands on one line if it is no longer than this."""
_SHORT = 60
"""A part that is longer than this and stands twice in a file is written once and referred to."""


class _Dumper(yaml.CSafeDumper):
    """Excerpts as blocks of lines; lists, and short mappings, of leaves on one line."""


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _mapping(dumper: _Dumper, mapping: dict[str, Any]) -> yaml.MappingNode:
    on_one_line = _is_leaf([*mapping.values()]) and len(repr(mapping)) < _LINE
    return dumper.represent_mapping("tag:yaml.org,2002:map", mapping, flow_style=on_one_line)


def _list(dumper: _Dumper, items: list[Any]) -> yaml.SequenceNode:
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=_is_leaf(items))


def _is_leaf(items: list[Any]) -> bool:
    return not any(isinstance(item, dict | list) and item for item in items)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(dict, _mapping)
_Dumper.add_representer(list, _list)


def dumped(document: dict[str, Any]) -> str:
    """A document as YAML, in its own order."""
    return yaml.dump(_said_once(document, {}), Dumper=_Dumper, sort_keys=False, width=_WIDTH)


def _said_once(value: Any, known: dict[str, Any]) -> Any:
    """The value, with equal parts of some length as one object, which YAML then writes once."""
    if isinstance(value, dict):
        value = {key: _said_once(item, known) for key, item in value.items()}
    elif isinstance(value, list):
        value = [_said_once(item, known) for item in value]
    else:
        return value
    text = repr(value)
    return known.setdefault(text, value) if len(text) > _SHORT else value
