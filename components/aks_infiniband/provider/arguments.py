"""From inputs to the arguments of the library's components: each is read by the type that the argument has."""

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pulumi.provider.experimental.util import camel_case

from aks_infiniband.azure.machines import AskedPool
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool, repeated
from aks_infiniband.facts.releases import OPERATOR_RELEASES, Release
from aks_infiniband.facts.versions import Chart
from aks_infiniband.handwritten import HandwrittenError, place
from aks_infiniband.handwritten.form import formed
from aks_infiniband.handwritten.section import Section
from aks_infiniband.operators.charts import ChartSource, chart_source, there
from aks_infiniband.stack.settings.operators import ChartSettings

_Arguments = TypeVar("_Arguments")


def taken(kind: type[_Arguments], inputs: Mapping[str, Any], **made: Any) -> _Arguments:
    """The arguments of a component, or a part of them.

    kind: their dataclass.
    inputs: one that is left out has the library's default. One that the dataclass does not have is passed
        over: another part of the arguments is made of it.
    made: arguments that no input is read to.

    Raises ValueError that names key, value and what is allowed.
    """
    wanted: dict[str, Any] = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]  # a dataclass
    read = {key: _read(wanted[key], inputs[key], key) for key in inputs if key in wanted and key not in made}
    return kind(**read, **made)


def section(kind: type[Section], inputs: Mapping[str, Any], name: str = "") -> Any:
    """A mapping that a stack file could hold, too: of `given` what it has. Raises ValueError as `taken`."""
    try:
        return formed(kind, {key: _plain(inputs[key]) for key in inputs if key in kind.model_fields})
    except HandwrittenError as error:
        path = [camel_case(part) if isinstance(part, str) else part for part in (name, *error.path) if part != ""]
        raise ValueError(f"{place(tuple(path))} {error}") from None


def _read(kind: Any, value: Any, name: str) -> Any:
    """An input as an argument of this type."""
    origin, members = get_origin(kind), [each for each in get_args(kind) if each is not NoneType]
    if origin is Annotated or (origin in (Union, UnionType) and len(members) == 1):
        return _read(members[0], value, name)
    if members and isinstance(value, list):
        return pools_of(value) if members[0] is Pool else tuple(_read(members[0], each, name) for each in value)
    if members and isinstance(value, dict):
        return {key: _read(members[-1], each, f"{name}.{key}") for key, each in value.items()}
    return _one(kind, value, name) if isinstance(kind, type) else _plain(value)


def _one(kind: type, value: Any, name: str) -> Any:
    """A value for which the library has a class becomes one; all else stays as it is."""
    if kind is Pool:
        return pool_of(value)
    if kind is Release:
        return OPERATOR_RELEASES[value]
    if issubclass(kind, Section):
        return section(kind, value, name)
    return taken(kind, value) if is_dataclass(kind) else _plain(value)


def _plain(value: Any) -> Any:
    """A document with its enumerations as the library's literals."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, StrEnum) else value


def pool_of(inputs: Mapping[str, Any]) -> Pool:
    """The pool that is described. Raises ValueError that names key, value and what is allowed."""
    asked: AskedPool = section(AskedPool, inputs)
    size = SIZES.get(asked.vm_size)
    if size is None:
        raise ValueError(f"pool {asked.name}: vmSize is {asked.vm_size}; must be one of {', '.join(SIZES)}")
    pool: Pool = section(Pool, {**inputs, "size": size, "node_count": asked.count})
    return pool


def pools_of(inputs: Iterable[Mapping[str, Any]]) -> list[Pool]:
    """The pools that are described. Raises ValueError as `pool_of`, and if there is none."""
    pools = list(map(pool_of, inputs))
    if not pools:
        raise ValueError("pools is empty; give one pool at least")
    for index, before in repeated(pool.name for pool in pools).items():
        raise ValueError(f"pools[{index}].name is {pools[index].name}; must be unique: pools[{before}] has it too")
    return pools


def chart_of(inputs: Mapping[str, Any] | None, default: Chart) -> ChartSource:
    """The chart that is described. Raises ValueError for a path without a file, and as `taken`."""
    chosen = section(ChartSettings, inputs or {}, "chart").model_dump(exclude_none=True)
    return there(chart_source(default, **{key: chosen[key] for key in chosen if key in (inputs or {})}))
