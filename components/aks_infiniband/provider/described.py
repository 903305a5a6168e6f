"""Inputs that are a section of a stack file: their keys, types and texts are the section's own."""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, Union, get_args, get_origin

from pulumi.provider.experimental.util import camel_case
from pydantic.fields import FieldInfo

from aks_infiniband.handwritten.section import Section
from aks_infiniband.provider import enumerations

_Inputs = TypeVar("_Inputs", bound=type)
_INPUTS: Final[dict[type[Section], Any]] = {}
"""By section, the inputs that describe it and nothing else."""
FIELDS_OF: Final[dict[str, Mapping[str, FieldInfo]]] = {}
"""By the name of inputs, the fields that they are made of."""


def describes(*sections: type[Section], without: Collection[str] = ()) -> Callable[[_Inputs], _Inputs]:
    """Give a TypedDict without keys the keys of sections, as Pulumi's reader takes them: enumerations in place of
    literals, no unions. Sections within them are described before.

    without: fields that these inputs do not have.
    """
    fields = {name: field for kind in sections for name, field in kind.model_fields.items() if name not in without}

    def declare(inputs: _Inputs) -> _Inputs:
        inputs.__annotations__ = {
            name: _type(field.annotation) if field.is_required() else NotRequired[_type(field.annotation)]
            for name, field in fields.items()
        }
        required = frozenset(name for name, field in fields.items() if field.is_required())
        inputs.__required_keys__ = required  # type: ignore[attr-defined]  # of a TypedDict
        inputs.__optional_keys__ = frozenset(fields) - required  # type: ignore[attr-defined]  # the same
        inputs.__doc__ = inputs.__doc__ or sections[0].__doc__
        FIELDS_OF[inputs.__name__] = fields
        if len(sections) == 1:
            _INPUTS[sections[0]] = inputs
        return inputs

    return declare


def texts_of(fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """By its name in the schema, the text of each field, with its default if the text does not tell it. A section that
    says itself what it is needs no text in the field.
    """
    return {
        camel_case(name): _text(field.description or field.annotation.__doc__, field.default)
        for name, field in fields.items()
    }


def _text(text: str | None, default: Any) -> str:
    plain = " ".join((text or "").split())
    if "Default: " in plain or not isinstance(default, bool | int | float | str | IPv4Network | IPv4Address):
        return plain
    return f"{plain} Default: {str(default).lower() if isinstance(default, bool) else default}."


def _type(annotation: Any) -> Any:
    origin, members = get_origin(annotation), [each for each in get_args(annotation) if each is not NoneType]
    if origin is Annotated or (origin in (Union, UnionType) and len(members) == 1):
        return _type(members[0])
    if origin is Literal:
        return _enumeration(frozenset(members))
    if origin is tuple:
        return list[_type(members[0])]  # type: ignore[misc]  # made at run time
    if origin is dict:
        return dict[str, _type(members[1])]  # type: ignore[misc]  # made at run time
    if annotation in (IPv4Address, IPv4Network):
        return str
    return _INPUTS.get(annotation, annotation)


def _enumeration(values: frozenset[Any]) -> type:
    """The enumeration with these values. Raises LookupError if there is none, or more than one."""
    kinds = [each for each in vars(enumerations).values() if isinstance(each, type) and issubclass(each, StrEnum)]
    found = [each for each in kinds if values == {*each}]
    if len(found) != 1:
        names = ", ".join(each.__name__ for each in found) or "none"
        raise LookupError(
            f"one enumeration of provider/enumerations.py must have {sorted(values)}; these have: {names}"
        )
    return found[0]
