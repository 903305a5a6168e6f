"""The versions of Kubernetes in a stack file, written so that the file says what Azure has: only they change in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from aks_infiniband.handwritten import HandwrittenError, parse

from aks_infiniband_cli.console import CommandError

KEY: Final = "kubernetesVersion"
_CLUSTER: Final = "aks-infiniband:cluster"
_POOLS: Final = "aks-infiniband:pools"


@dataclass(frozen=True, kw_only=True, slots=True)
class Versions:
    """The versions for a stack file."""

    cluster: str
    pools: Mapping[str, str]
    """Versions of each pool of the stack."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def write(file: Path, versions: Versions) -> bool:
    """Write versions into a stack file; whether that changed it. Raises CommandError if it cannot be done.

    A pool gets a separate key only while it is behind the cluster. Comments, order and style stay as they are.
    """
    text = file.read_text(encoding="utf-8")
    changed = edited(text, versions)
    if changed == text:
        return False
    if not _says(changed, _expected(yaml.safe_load(text), versions)):
        raise CommandError(f"{file} is written in a way that this command cannot change. Write {told(versions)} there")
    draft = file.with_name(f"{file.name}.draft")
    draft.write_text(changed, encoding="utf-8")
    draft.replace(file)
    return True


def _says(text: str, expected: Any) -> bool:
    try:
        return bool(parse(text) == expected)
    except HandwrittenError:
        return False


def told(versions: Versions) -> str:
    """The lines that a person would write."""
    behind = [f'{KEY}: "{version}" of pool {pool}' for pool, version in _behind(versions).items()]
    return ", ".join([f'{KEY}: "{versions.cluster}" of {_CLUSTER}', *behind])


def _behind(versions: Versions) -> dict[str, str]:
    return {pool: version for pool, version in versions.pools.items() if version != versions.cluster}


def _expected(document: Any, versions: Versions) -> Any:
    config = document.get("config", document)
    config[_CLUSTER][KEY] = versions.cluster
    for pool in config[_POOLS]:
        if pool["name"] in versions.pools:
            pool.pop(KEY, None)
            if pool["name"] in _behind(versions):
                pool[KEY] = versions.pools[pool["name"]]
    return document


def edited(text: str, versions: Versions) -> str:
    """The text of a stack file with other versions. Raises CommandError for one without the keys of a cluster."""
    root = yaml.compose(text)
    config = _child(root, "config") or root
    cluster, pools = _child(config, _CLUSTER), _child(config, _POOLS)
    version = _child(cluster, KEY)
    if version is None or not isinstance(pools, yaml.SequenceNode):
        raise CommandError(f"the stack file has no {KEY} in {_CLUSTER}, or no list {_POOLS}")
    edits = [_Edit(start=version.start_mark.index, end=version.end_mark.index, text=f'"{versions.cluster}"')]
    for pool in pools.value:
        name = _child(pool, "name")
        if name is not None and name.value in versions.pools:
            edits += _of_pool(text, pool, _behind(versions).get(name.value))
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _of_pool(text: str, pool: yaml.MappingNode, version: str | None) -> list[_Edit]:
    """The edit that writes the version of one pool, or takes it away."""
    keys = [key.value for key, _ in pool.value]
    start = pool.value[0][0].start_mark
    if KEY not in keys:
        between = ", " if pool.flow_style else "\n" + " " * start.column
        added = f'{KEY}: "{version}"{between}'
        return [_Edit(start=start.index, end=start.index, text=added)] if version else []
    place = keys.index(KEY)
    key, value = pool.value[place]
    if version:
        return [_Edit(start=value.start_mark.index, end=value.end_mark.index, text=f'"{version}"')]
    if place + 1 < len(keys):
        return [_Edit(start=key.start_mark.index, end=pool.value[place + 1][0].start_mark.index, text="")]
    before = pool.value[place - 1][1].end_mark.index
    return [_Edit(start=len(text[:before].rstrip()), end=value.end_mark.index, text="")]


def _child(node: Any, key: str) -> Any:
    """The value of a key in a mapping; None if there is none."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for name, value in pairs if name.value == key), None)
