"""The limits of each number that people give, in a stack file or as an argument of the library: one table.

A setting and the argument that it becomes have the same type from here. pydantic reads the bounds from it for stack
files, their schema and their page; `keep_rules` reads them for the arguments.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from annotated_types import Interval, MaxLen
from pydantic import AfterValidator
from pydantic.fields import FieldInfo

from aks_infiniband.handwritten.words import shortened, word

MOST_NODES: Final = 1000
"""Nodes that AKS takes in one pool (Azure, "Quotas, virtual machine size restrictions, and region availability")."""
A_DAY: Final = 86400
LEAST_PAUSE_SECONDS: Final = 0.1
"""Between two looks: more frequent reads are a load on an API server that all share. Azure's and the operators' states
change within seconds at most.
"""

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
"""Size of an OS disk (AKS, "Agent Pools", osDiskSizeGB)."""
MaxPods = Annotated[int, Interval(ge=50, le=250)]
"""Pods of a node: below 50 AKS's own pods and the operators' leave no room (stack/settings/pools.py), and AKS takes
250.
"""
PerNode = Annotated[int, Interval(ge=2, le=4096)]
"""Addresses of a node's block in NV-IPAM."""
Rails = Annotated[int, Interval(ge=1, le=16)]
"""IPoIB networks of a pod: no machine has more HCAs."""
MOST_LIMIT: Final = 1e9
Limit = Annotated[float, Interval(gt=0, lt=MOST_LIMIT)]
"""A limit of any measured figure, in its unit."""


def keep_rules(arguments: object) -> None:
    """Hold a dataclass against the rules of its fields' types: bounds of numbers, and what `rules` says of a text.

    Values that are known only later, outputs of another resource, are passed over. Raises ValueError, which names
    class, field, value and what is allowed.
    """
    kind: Any = type(arguments)
    for name, annotation in _annotations(kind):
        for place, value, reason in _broken(annotation, getattr(arguments, name), name):
            raise ValueError(f"{kind.__name__}.{place} is {shortened(value)}; {reason}")


def keep_rule(annotation: Any, value: Any, name: str) -> None:
    """The same for one argument of a function. Raises ValueError."""
    for place, item, reason in _broken(annotation, value, name):
        raise ValueError(f"{place} is {shortened(item)}; {reason}")


def in_words(bounds: Any) -> str:
    """The bounds, an Interval, as people read them."""
    if bounds.ge is not None and bounds.le is not None:
        return f"from {bounds.ge:g} to {bounds.le:g}"
    return f"above {bounds.gt:g} and below {bounds.lt:g}"


def _within(value: float, bounds: Any) -> bool:
    """False if the value is not a number."""
    least = value >= bounds.ge if bounds.ge is not None else value > bounds.gt
    return bool(least and (value <= bounds.le if bounds.le is not None else value < bounds.lt))


@cache
def _annotations(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Name and type of each field."""
    return tuple((field.name, field.type) for field in fields(kind))


def _broken(annotation: Any, value: Any, place: str) -> Iterator[tuple[str, Any, str]]:
    """Each part of a value that breaks a rule of its type: its place, itself, and what is allowed."""
    if value is None:
        return
    for part, item, where in _parts(annotation, value, place):
        yield from _broken(part, item, where)
    if get_origin(annotation) is Annotated:
        kind, *rules = get_args(annotation)
        reasons = filter(None, (_reason(rule, value, whole=kind is int) for rule in rules))
        yield from ((place, value, reason) for reason in reasons)


def _parts(annotation: Any, value: Any, place: str) -> Iterator[tuple[Any, Any, str]]:
    """The parts of a type and a value: the type of each part, the part and its place."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield parts[0], value, place
    elif origin in (Union, UnionType):
        yield from ((part, value, place) for part in parts)
    elif isinstance(value, Mapping) and parts:
        yield from ((parts[0], key, f"{place} key") for key in value)
        yield from ((parts[-1], item, f"{place}.{word(key)}") for key, item in value.items())
    elif isinstance(value, list | tuple) and parts:
        yield from ((parts[0], item, f"{place}[{index}]") for index, item in enumerate(value))


def _reason(rule: Any, value: Any, *, whole: bool) -> str:
    """A rule's objection to a value, after "KEY is VALUE; "; empty if it allows it."""
    if isinstance(rule, Interval):
        is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        number = "a whole number" if whole else "a number"
        return "" if is_number and _within(value, rule) else f"must be {number} {in_words(rule)}"
    if isinstance(rule, FieldInfo):
        return next(filter(None, (_reason(each, value, whole=whole) for each in rule.metadata)), "")
    if isinstance(rule, MaxLen):
        return f"must have at most {rule.max_length}" if len(value) > rule.max_length else ""
    judge: Any = rule.func if isinstance(rule, AfterValidator) else rule
    if not isinstance(value, str) or not callable(judge):
        return ""
    try:
        judge(value)
    except ValueError as error:
        return str(error)
    return ""
