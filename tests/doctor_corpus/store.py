"""Recorded clusters on disk: a healthy one, and each further one as what differs from the one before it."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "recorded"
HEALTHY: Final = "healthy"
Document = dict[str, Any]
"""A cluster, as `Snapshot.of` takes it."""
Key = tuple[str, str, str]
"""Kind, namespace and name."""


@cache
def load(stack: str) -> dict[str, Document]:
    """The recorded clusters of a stack by name, such as `node-cordoned, mended`, in the order of their recording."""
    file = _file(stack)
    found: dict[str, Document] = {}
    now: Document = {"objects": []}
    for line in file.read_text().splitlines() if file.exists() else ():
        name, difference = json.loads(line)
        found[name] = now = _patched(now, difference)
    return found


def save(stack: str, documents: Mapping[str, Document]) -> None:
    """Write the clusters of a stack, one to a line."""
    lines, before = [], Document(objects=[])
    for name, document in documents.items():
        lines.append(json.dumps([name, _difference(before, document)], separators=(",", ":"), ensure_ascii=False))
        before = document
    FOLDER.mkdir(exist_ok=True)
    _file(stack).write_text("\n".join(lines) + "\n")


def _file(stack: str) -> Path:
    return FOLDER / f"{stack}.jsonl"


def _key(item: Mapping[str, Any]) -> Key:
    metadata = item["metadata"]
    return str(item["kind"]), str(metadata.get("namespace") or ""), str(metadata["name"])


def _difference(before: Document, now: Document) -> Document:
    """The changes: objects that are new or gone, merge patches (RFC 7386) of the others, and all the rest."""
    old, new = ({_key(item): item for item in document["objects"]} for document in (before, now))
    changed = [[*key, _merge_patch(old[key], item)] for key, item in new.items() if old.get(key, item) != item]
    parts = {
        "gone": [list(key) for key in old if key not in new],
        "changed": changed,
        "new": [item for key, item in new.items() if key not in old],
    }
    rest = {name: value for name, value in now.items() if name != "objects"}
    return {name: value for name, value in {**rest, **parts}.items() if value}


def _patched(before: Document, difference: Document) -> Document:
    gone = {tuple(key) for key in difference.get("gone") or []}
    changes = {tuple(change[:3]): change[3] for change in difference.get("changed") or []}
    kept = [_merged(item, changes.get(_key(item), {})) for item in before["objects"] if _key(item) not in gone]
    rest = {name: value for name, value in difference.items() if name not in ("gone", "changed", "new")}
    return {**rest, "objects": [*kept, *(difference.get("new") or [])]}


def _merge_patch(before: Any, after: Any) -> Any:
    if not isinstance(before, dict) or not isinstance(after, dict):
        return after
    changed = {key: _merge_patch(before.get(key), value) for key, value in after.items() if before.get(key) != value}
    return changed | dict.fromkeys(before.keys() - after.keys())


def _merged(before: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    return dict(_merged_items(before if isinstance(before, dict) else {}, patch))


def _merged_items(before: Mapping[str, Any], patch: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in (*before, *(key for key in patch if key not in before)):
        if key not in patch:
            yield key, before[key]
        elif patch[key] is not None:
            yield key, _merged(before.get(key), patch[key])
