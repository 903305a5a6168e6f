"""Every text of the repository that a person reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import yaml

from tests.wording.markdown import texts_of_page
from tests.wording.python import classes, subclasses, texts_of_module
from tests.wording.text import Place, Text

ROOT: Final = Path(__file__).parents[2]
_FOLDERS: Final = (
    "benchmark",
    "command_line",
    "components",
    "declared",
    "docs",
    "examples",
    "pages",
    "rehearsal",
    "tests",
    "values",
)
_MESSAGES: Final = {
    "command_line/": Place.COMMAND_LINE_MESSAGES,
    "components/": Place.LIBRARY_MESSAGES,
    "rehearsal/": Place.REHEARSAL_MESSAGES,
}
_EXAMPLES_OF_HABITS: Final = {"STYLE.md", "tests/unit/repository/test_wording.py"}
_NOT_OURS: Final = {"node_modules", "__pycache__", "build", "bin", "obj"}
_DATA: Final = {
    "command_line/aks_infiniband_cli/doctor/symptoms/*.yaml": Place.SYMPTOMS,
    "components/aks_infiniband/facts/words/*.yaml": Place.SYMPTOMS,
    "docs/records/*.yaml": Place.RECORDS,
}
_KEYS: Final = {
    Place.SYMPTOMS: {"title", "evidence", "cause", "fix"},
    Place.RECORDS: {"fact", "value", "what", "how", "set"},
}
"""The keys of the texts in a file of data."""


def every_text(root: Path = ROOT) -> Iterator[Text]:
    """Every text below a folder that has this repository's layout."""
    modules = {_name(path, root): path.read_text(encoding="utf-8") for path in _files(root, ".py")}
    bases = {name: own for source in modules.values() for name, own in classes(source).items()}
    sections = subclasses("Section", bases)
    for file, source in modules.items():
        messages = next((place for folder, place in _MESSAGES.items() if file.startswith(folder)), None)
        yield from texts_of_module(file, source, messages=messages, sections=sections)
    for path in _files(root, ".md"):
        yield from texts_of_page(_name(path, root), path.read_text(encoding="utf-8"))
    for pattern, place in _DATA.items():
        for path in sorted(root.glob(pattern)):
            yield from texts_of_data(_name(path, root), path.read_text(encoding="utf-8"), place)


def texts_of_data(file: str, source: str, place: Place) -> Iterator[Text]:
    """The texts in a file of symptoms, of known messages, or of records."""
    to_read, seen = [yaml.compose(source, Loader=yaml.SafeLoader)], set()
    while to_read:
        node = to_read.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(value, yaml.ScalarNode) and key.value in _KEYS[place]:
                    first, last = value.start_mark.line + 1, value.end_mark.line + 1
                    yield Text(place=place, file=file, first_line=first, last_line=last, words=value.value)
            to_read += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            to_read += node.value


def _files(root: Path, suffix: str) -> Iterator[Path]:
    yield from sorted(path for path in root.glob(f"*{suffix}") if _name(path, root) not in _EXAMPLES_OF_HABITS)
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob(f"*{suffix}")):
            parts = path.relative_to(root).parts
            hidden = any(part.startswith(".") or part in _NOT_OURS for part in parts[:-1])
            if not hidden and _name(path, root) not in _EXAMPLES_OF_HABITS:
                yield path


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()
