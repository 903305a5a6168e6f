"""YAML that people write by hand, read in one defensive way.

YAML means what it means to Pulumi's engine, which reads stack files with gopkg.in/yaml.v3: YAML 1.2 with octal 0777,
so `off` is text; a key stands once in a mapping (looked at with Pulumi 3.272.0: `pulumi config --json`).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, Final

import yaml

from aks_infiniband.handwritten.json_text import DEEPEST, TOO_DEEP
from aks_infiniband.handwritten.words import HandwrittenError, shortened

MOST_BYTES: Final = 1_000_000
"""Size of one file; a ConfigMap holds 1,048,576 (Kubernetes, validation of core/v1: MaxSecretSize)."""
_MOST_VALUES: Final = 20_000
"""Once anchors are filled in; a stack of 100 pools has some 4,000."""
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TAG: Final = "tag:yaml.org,2002:"
_TAGS: Final = (None, f"{_TAG}str")
_SCALARS: Final = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    "timestamp": (r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ][0-9:. +Zz-]+)?", list("0123456789")),
    "merge": (r"<<", ["<"]),
}
"""The type of a scalar without quotes: pattern and first characters. The first that matches counts; all else is
text.
"""


def content(path: str | Path) -> bytes:
    """The content of a file; ~ is the home folder. Raises HandwrittenError."""
    try:
        file = Path(path).expanduser()
        if regular := S_ISREG(file.stat().st_mode):  # other kinds of file may be endless
            with file.open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise HandwrittenError(f"cannot be read: {error.strerror}") from error
    except (RuntimeError, ValueError) as error:
        raise HandwrittenError("cannot be read: no file can have this name, or no such home folder") from error
    if not regular:
        raise HandwrittenError("cannot be read: it is not a file")
    if len(data) > MOST_BYTES:
        raise HandwrittenError(f"cannot be used: it has more than {MOST_BYTES:,} bytes")
    return data


def read(path: str | Path) -> Any:
    """The one document of a YAML file. Raises HandwrittenError."""
    return parse(content(path))


def parse(text: str | bytes) -> Any:
    """The one document of a YAML text; the keys of mappings are text. Raises HandwrittenError."""
    try:
        _measure(text)
        return yaml.load(text, Loader=_Rules)  # noqa: S506  made of the safe one
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {mark.line + 1}" if mark else ""
        raise HandwrittenError(f"is not YAML: {error.problem}{where}") from None
    except yaml.YAMLError:
        raise HandwrittenError("is not YAML: it is not text in UTF-8") from None


@dataclass
class _Open:
    """A collection that is being read. keys: of a mapping, those seen; None for a list."""

    anchor: str | None
    before: int
    keys: set[str] | None
    at_key: bool = True


def _measure(text: str | bytes) -> None:
    """Refuse what no reader survives, nested too deeply or endless once anchors are filled in, and keys given twice."""
    under_way: list[_Open] = []
    sizes: dict[str | None, int] = {}
    values = 0
    events: Iterable[Any] = yaml.parse(text, Loader=_Loader)
    for event in events:
        where = f"in line {event.start_mark.line + 1}"
        if isinstance(event, yaml.CollectionEndEvent):
            ended = under_way.pop()
            sizes[ended.anchor] = values - ended.before
        if not isinstance(event, yaml.NodeEvent):
            continue
        if getattr(event, "tag", None) not in _TAGS:
            raise HandwrittenError(f"has a tag, {where}: leave it out, and put what is text in quotes")
        if under_way and under_way[-1].keys is not None:
            _see(under_way[-1], event, where)
        if isinstance(event, yaml.AliasEvent) and any(event.anchor == part.anchor for part in under_way):
            raise HandwrittenError(f"holds a value that contains itself, {where}")
        values += sizes.get(event.anchor, 1) if isinstance(event, yaml.AliasEvent) else 1
        if isinstance(event, yaml.CollectionStartEvent):
            keys: set[str] | None = set() if isinstance(event, yaml.MappingStartEvent) else None
            under_way.append(_Open(event.anchor, values, keys))
        if len(under_way) > DEEPEST:
            raise HandwrittenError(f"{TOO_DEEP}, {where}")
        if values > _MOST_VALUES:
            raise HandwrittenError(f"holds more than {_MOST_VALUES:,} values, anchors filled in")


def _see(mapping: _Open, event: yaml.NodeEvent, where: str) -> None:
    """Keys and values of a mapping follow one another."""
    mapping.at_key, is_key = not mapping.at_key, mapping.at_key
    if not is_key or mapping.keys is None:
        return
    if not isinstance(event, yaml.ScalarEvent):
        raise HandwrittenError(f"has a key that is not text, {where}")
    if event.value in mapping.keys:
        raise HandwrittenError(f"has the key {shortened(event.value)} twice in one mapping, {where}")
    mapping.keys.add(event.value)


class _Rules(_Loader):  # type: ignore[misc]  # which it is, the machine decides
    yaml_implicit_resolvers: Final = {
        first: [
            (_TAG + tag, re.compile(rf"(?:{pattern})\Z"))
            for tag, (pattern, firsts) in _SCALARS.items()
            if first in firsts
        ]
        for first in {first for _, firsts in _SCALARS.values() for first in firsts}
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[str, Any]:
        """Keys are text, as in JSON."""
        self.flatten_mapping(node)
        return {key.value: self.construct_object(value, deep=deep) for key, value in node.value}

    def number(self, node: yaml.ScalarNode) -> float:
        """A number as the engine hands it on in JSON: whole if it can be."""
        text = node.value.replace("_", "").lower()
        digits = text.lstrip("+-")
        try:
            if re.fullmatch(r"0[box].+|0[0-7]+", digits):
                return int(re.sub(r"^([+-]?)0(?=[0-9])", r"\g<1>0o", text), 0)
            if digits.isdecimal():
                return int(text)
            whole = int(float(text))  # raises OverflowError for infinity
            return whole if whole == float(text) else float(text)
        except (ValueError, OverflowError):
            raise HandwrittenError(f"has a number that JSON cannot hold, in line {node.start_mark.line + 1}") from None

    def date(self, node: yaml.ScalarNode) -> None:
        """The engine makes another text of it."""
        raise HandwrittenError(f"has a date that must be in quotes, in line {node.start_mark.line + 1}")


_READERS: Final = {"int": _Rules.number, "float": _Rules.number, "timestamp": _Rules.date}
_Rules.yaml_constructors = {
    **{_TAG + tag: _Loader.yaml_constructors[_TAG + tag] for tag in ("null", "bool", "str", "seq", "map")},
    **{_TAG + tag: reader for tag, reader in _READERS.items()},
}
