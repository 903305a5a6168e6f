"""Quantities of whole things, as the API server writes them."""

from __future__ import annotations

_SUFFIXES = {"k": 1_000, "M": 1_000_000}


def quantity(text: str) -> int:
    """A Kubernetes quantity of whole things, such as ``8`` or ``1k`` (what an allocatable 1000 is written as).

    Raises ValueError for anything else.
    """
    for suffix, factor in _SUFFIXES.items():
        if text.endswith(suffix):
            return int(text[: -len(suffix)]) * factor
    return int(text)
