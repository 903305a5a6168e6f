"""Writes trees as Helm templates, what differs as one table, and long texts as files."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from aks_infiniband.resources.metadata import SYSTEM_NAMESPACE

from chart import sentinels
from chart.common import ABSENT, EachPool, Fields, Items, Json, Literal, Node, Slot
from chart.declaring import Part
from chart.documents import REPORTS, OfPools, Shared

TABLE: Final = "files/differences.json"
_END: Final = "{{- end }}"
_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*")
_FLOWS: Final = {sentinels.as_json(value): expression for value, expression in sentinels.FLOWS}
_ARGUMENTS: Final = "{{- $root := index . 0 }}{{- $table := index . 1 }}{{- $context := index . 2 }}"
_ENABLED: Final[Mapping[Part, str]] = {
    "validation": 'ne .Values.validation.mode "off"',
    "lightCheck": ".Values.lightCheck",
    "observability": ".Values.observability",
}
"""When a part is in the cluster."""


@dataclass
class Files:
    """The files that templates read: long texts, and by kind the differences."""

    texts: dict[str, str] = field(default_factory=dict)
    """By path in the chart."""
    slots: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name: the facts that it depends on, and for each combination of them the number of its value."""
    values: list[str] = field(default_factory=list)
    """Each as JSON; empty for one that is not there."""
    _names: dict[str, str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def text(self, content: str) -> str:
        """The path of a file with this content."""
        path = f"files/texts/{hashlib.sha256(content.encode()).hexdigest()[:12]}.txt"
        self.texts[path] = content
        return path

    def slot(self, slot: Slot) -> str:
        """The name of a slot in the table."""
        by = slot.depends_on()
        numbers = {
            "/".join(kind.facts[name] for name in by): self._number("" if value is ABSENT else sentinels.as_json(value))
            for kind, value in slot.values.items()
        }
        entry = {"by": list(by), "values": numbers}
        name = self._names.setdefault(json.dumps(entry, sort_keys=True), f"d{len(self._names)}")
        self.slots[name] = entry
        return name

    def _number(self, text: str) -> int:
        if text not in self._numbers:
            self._numbers[text] = len(self.values)
            self.values.append(text)
        return self._numbers[text]

    def table(self) -> str:
        """All that differs."""
        return json.dumps({"slots": self.slots, "values": self.values}, indent=1, sort_keys=True) + "\n"


def filled(text: str) -> str:
    """A text with a template's actions in place of marks."""
    for mark, expression in sentinels.text_marks():
        text = text.replace(mark, f"{{{{ {expression} }}}}")
    return text


@dataclass
class Writer:
    """Writes the template of one document."""

    files: Files
    part: Part
    name: str
    """Name of the template; further ones, of texts of JSON, have a number behind it."""
    further: list[str] = field(default_factory=list)
    """Their lines."""

    def each(self) -> str:
        """The beginning of what stands once for each pool of the part."""
        return f'{{{{- range $context := include "contexts" (list $root "{self.part}") | fromJsonArray }}}}'

    def lines(self, node: Node, indent: str = "") -> Iterator[str]:
        """A mapping or a list, as YAML."""
        if isinstance(node, Fields):
            for key, value in node.entries.items():
                yield from self._field(key, value, indent)
        elif isinstance(node, Items):
            for item in node.items:
                yield from self._item(item, indent)
        else:
            raise TypeError(f"{node} has no lines of its own")

    def _field(self, key: str, value: Node, indent: str) -> Iterator[str]:
        if isinstance(value, EachPool):
            yield from (self.each(), *self._field(key, value.nodes[0], indent), _END)
        elif key in sentinels.LABELS:
            yield "{{- range $key, $value := $root.Values.observability.labels }}"
            yield f"{indent}{{{{ $key | toJson }}}}: {{{{ $value | toJson }}}}"
            yield _END
        elif isinstance(value, Slot) and value.optional:
            yield f"{{{{- with {self.difference(value)} }}}}"
            yield f"{indent}{_key(key)}: {{{{ . }}}}"
            yield _END
        elif isinstance(value, Fields | Items):
            yield from (f"{indent}{_key(key)}:", *self.lines(value, f"{indent}  "))
        else:
            yield f"{indent}{_key(key)}: {self._inline(value)}"

    def _item(self, item: Node, indent: str) -> Iterator[str]:
        if isinstance(item, EachPool):
            yield self.each()
            for node in item.nodes:
                yield from self._item(node, indent)
            yield _END
        elif isinstance(item, Fields | Items):
            first, *others = self.lines(item, f"{indent}  ")
            if first.startswith("{{-"):
                raise ValueError(f"the first field of an item has to be there always: {first}")
            yield from (f"{indent}- {first.lstrip()}", *others)
        elif isinstance(item, Literal) and item.value == sentinels.MATCH:
            yield from _items(f'{sentinels.MATCHES} | printf "[%s]"', indent)
        elif isinstance(item, Literal) and str(item.value).startswith(sentinels.BOARDS):
            yield from _items(boards(str(item.value).removeprefix(sentinels.BOARDS)), indent)
        else:
            yield f"{indent}- {self._inline(item)}"

    def difference(self, slot: Slot) -> str:
        """The expression for a value that differs."""
        return f'include "difference" (list $root $table $context "{self.files.slot(slot)}")'

    def _inline(self, node: Node) -> str:
        if isinstance(node, Slot):
            return f"{{{{ {self.difference(node)} }}}}"
        if isinstance(node, Json):
            return f"{{{{ {self.included(node.inner)} | fromYaml | toJson | toJson }}}}"
        assert isinstance(node, Literal)
        value = node.value
        if expression := _FLOWS.get(sentinels.as_json(value)):
            return f"{{{{ {expression} }}}}"
        if isinstance(value, str) and "\n" in value:
            return f'{{{{ $root.Files.Get "{self.files.text(value)}" | toJson }}}}'
        if isinstance(value, str) and "{{" in value:
            return f"{{{{ `{value}` | toJson }}}}"
        return filled(sentinels.as_json(value))

    def included(self, node: Node) -> str:
        """The expression for a further template."""
        lines = list(self.lines(node))
        name = f"{self.name}.{len(self.further)}"
        self.further += [f'{{{{- define "{name}" }}}}{_ARGUMENTS}', *lines, _END]
        return f'include "{name}" (list $root $table $context)'


def _items(array: str, indent: str) -> Iterator[str]:
    yield f"{{{{- range {array} | fromJsonArray }}}}"
    yield f"{indent}- {{{{ . | toJson }}}}"
    yield _END


def boards(report: str) -> str:
    """The expression for the names of the ConfigMaps of a report."""
    return f'include "boards" (list $context.pool "{report.removeprefix(sentinels.POOL)}")'


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) else filled(json.dumps(key))


def template(document: OfPools | Shared, part: Part, files: Files) -> tuple[str, str]:
    """Path and text of a document's template."""
    kind, name, namespace = document.key
    title = re.sub(r"[^a-z0-9]+", "-", f"{kind}-{name}{'-elsewhere' if namespace == 'default' else ''}".lower())
    title = title.replace(f"{SYSTEM_NAMESPACE}-", "").replace(sentinels.POOL, "pool")
    writer = Writer(files, part, f"{part}-{title}")
    body = list(_of_all(writer, document) if isinstance(document, Shared) else _of_pools(writer, document))
    enabled = _ENABLED[part]
    if isinstance(document, Shared) and document.only:
        enabled = f'and {enabled} (eq (dig "prometheus" "" (.Values.observability | default dict)) "{document.only}")'
    begin = f'{{{{- $root := . }}}}{{{{- $context := dict }}}}{{{{- $table := .Files.Get "{TABLE}" | fromJson }}}}'
    text = "\n".join([*writer.further, f"{{{{- if {enabled} }}}}", begin, *body, _END])
    return f"templates/{part.lower()}/{title}.yaml", f"{text}\n"


def _of_all(writer: Writer, document: Shared) -> Iterator[str]:
    yield from ("---", *writer.lines(document.tree))


def _of_pools(writer: Writer, document: OfPools) -> Iterator[str]:
    yield writer.each()
    if document.there:
        yield f"{{{{- if {writer.difference(document.there)} }}}}"
    tree = document.tree
    assert isinstance(tree, Fields)
    if document.key.kind == "Job":
        yield from _job(writer, tree)
    elif document.key.kind == "ConfigMap" and document.key.name in REPORTS:
        yield f"{{{{- range $name := {boards(document.key.name)} | fromJsonArray }}}}"
        yield from ("---", *_named(writer, tree, "{{ $name | toJson }}"), _END)
    else:
        yield from ("---", *writer.lines(tree))
    if document.there:
        yield _END
    yield _END


def _named(writer: Writer, tree: Fields, name: str) -> Iterator[str]:
    """The lines of a document that has another name."""
    for key, value in tree.entries.items():
        if key == "metadata":
            assert isinstance(value, Fields)
            others = {field: node for field, node in value.entries.items() if field != "name"}
            yield from ("metadata:", f"  name: {name}", *writer.lines(Fields(others), "  "))
        else:
            yield from writer.lines(Fields({key: value}))


def _job(writer: Writer, tree: Fields) -> Iterator[str]:
    """A Job's template is immutable, so the Job's name ends in a hash of all that it depends on."""
    spec = writer.included(tree.entries["spec"])
    rest = Fields({key: value for key, value in tree.entries.items() if key != "spec"})
    yield f"{{{{- $spec := {spec} }}}}"
    hashed = 'include "name-end" (list $root $spec)'
    yield from ("---", *_named(writer, rest, f"{{{{ $context.pool.name }}}}-validate-{{{{ {hashed} }}}}"))
    yield from ("spec:", "  {{- $spec | nindent 2 }}")
