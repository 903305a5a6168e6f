"""The machine sizes that a rehearsal knows: the catalogue's, and those that the stack file describes."""

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.described import described as size_from
from aks_infiniband.facts.catalog.machine import MachineSize

_FILE: Final = "sizes.json"
_MOST_DEVICES: Final = 16
"""HCAs, and GPUs, of one machine that the program lets a stack file describe."""


def known_sizes(run: Path) -> Mapping[str, MachineSize]:
    """Every InfiniBand size by its Azure name, as it is now: a later `up` may describe others.

    run: the run folder.
    """
    file = run / _FILE
    try:
        status = file.stat()
    except FileNotFoundError:
        return SIZES
    return _read(file, (status.st_mtime_ns, status.st_ino, status.st_size))


def describe_sizes(run: Path, described: Mapping[str, Any]) -> None:
    """Let every part of a run know the stack file's `aks-infiniband:sizes`, each in the stack file's own keys.

    An entry that describes no size is left out: the program refuses it, and says why.
    """
    draft = run / f".{_FILE}.draft"
    draft.write_text(json.dumps({name: document for name, document in described.items() if _describes(name, document)}))
    draft.replace(run / _FILE)


def _describes(name: str, given: Any) -> bool:
    try:
        devices = (given["infiniband"]["hcaCount"], (given.get("accelerator") or {"count": 1})["count"])
        return all(1 <= count <= _MOST_DEVICES for count in devices) and bool(size_from(name, given))
    except (KeyError, TypeError, AttributeError):
        return False


@lru_cache(maxsize=1)
def _read(file: Path, _version: tuple[int, ...]) -> Mapping[str, MachineSize]:
    """The arguments identify the file by time of writing, inode and length: it is read again only when they change."""
    described = {name: size_from(name, document) for name, document in json.loads(file.read_text()).items()}
    return MappingProxyType({**SIZES, **described})
