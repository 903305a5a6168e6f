"""The library's public names, found by looking at it."""

import dataclasses
from typing import Any

import aks_infiniband
import pulumi
from aks_infiniband.handwritten.section import Section

NAMES: list[str] = sorted(aks_infiniband.__all__)


def named(name: str) -> Any:
    return getattr(aks_infiniband, name)


COMPONENTS = [
    name for name in NAMES if isinstance(named(name), type) and issubclass(named(name), pulumi.ComponentResource)
]
ARGUMENTS = [name for name in NAMES if isinstance(named(name), type) and dataclasses.is_dataclass(named(name))]
SECTIONS = [name for name in NAMES if isinstance(named(name), type) and issubclass(named(name), Section)]
"""Names that are a mapping in a stack file too."""
