"""What each number may be that people give, in a stack file or as an argument of the library: one table.

A setting and the argument that it becomes have the same type from here. pydantic reads the bounds from it for stack
files, their schema and their page; `keep_bounds` reads them for the arguments.
"""

from dataclasses import fields
from functools import cache
from typing import Annotated, Any, Final, get_args

from annotated_types import Interval

MOST_NODES: Final = 1000
"""Nodes that AKS takes in one pool (Azure, "Quotas, virtual machine size restrictions, and region availability")."""
A_DAY: Final = 86400
LEAST_PAUSE_SECONDS: Final = 0.1
"""Between two looks: what asks more often is a load on an API server that all share. Azure's and the operators' states
change within seconds at most."""

PollSeconds = Annotated[float, Interval(ge=LEAST_PAUSE_SECONDS, le=3600)]
StableSeconds = Annotated[float, Interval(ge=0, le=A_DAY)]
TimeoutSeconds = Annotated[float, Interval(ge=1, le=A_DAY)]
"""A day at most: no wait of a deployment is longer."""
DrainSeconds = Annotated[int, Interval(ge=0, le=A_DAY)]
"""0 waits for as long as pods need."""
Tries = Annotated[int, Interval(ge=1, le=3)]
BurnInMinutes = Annotated[int, Interval(ge=1, le=600)]
"""A validation may take a day, and half of it is for the pods to meet."""
Nodes = Annotated[int, Interval(ge=1, le=MOST_NODES)]
DiskGb = Annotated[int, Interval(ge=30, le=2048)]
"""Of an OS disk (AKS, "Agent Pools", osDiskSizeGB)."""
MaxPods = Annotated[int, Interval(ge=50, le=250)]
"""Of a node: below 50 AKS's own pods and the operators' leave no room (stack/settings/pools.py), and AKS takes 250."""
PerNode = Annotated[int, Interval(ge=2, le=4096)]
"""Addresses of a node's block in NV-IPAM."""
MOST_LIMIT: Final = 1e9
Limit = Annotated[float, Interval(gt=0, lt=MOST_LIMIT)]
"""Of any measured figure, in its unit."""


def keep_bounds(arguments: object) -> None:
    """Hold the numbers of a dataclass against the bounds of their types. Raises ValueError, which names class, field,
    value and what is allowed.
    """
    kind: Any = type(arguments)
    for name, bounds, whole in _bounded(kind):
        value: Any = getattr(arguments, name)
        if value is None:
            continue
        is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        if not is_number or not _within(value, bounds):
            number = "a whole number" if whole else "a number"
            raise ValueError(f"{kind.__name__}.{name} is {value!r}; must be {number} {in_words(bounds)}")


def in_words(bounds: Any) -> str:
    """The bounds, an Interval, as people read them."""
    if bounds.ge is not None and bounds.le is not None:
        return f"from {bounds.ge:g} to {bounds.le:g}"
    return f"above {bounds.gt:g} and below {bounds.lt:g}"


def _within(value: float, bounds: Any) -> bool:
    """Never so for what is no number."""
    least = value >= bounds.ge if bounds.ge is not None else value > bounds.gt
    return bool(least and (value <= bounds.le if bounds.le is not None else value < bounds.lt))


@cache
def _bounded(kind: Any) -> tuple[tuple[str, Interval, bool], ...]:
    """Name, bounds and whether it is a whole number, of each field that has bounds."""
    found = []
    for field in fields(kind):
        for part in (field.type, *get_args(field.type)):
            for bounds in getattr(part, "__metadata__", ()):
                if isinstance(bounds, Interval):
                    found.append((field.name, bounds, get_args(part)[0] is int))
    return tuple(found)
