"""What the sections of the settings have in common: the base model, and the types that several of them use.

A section is read strictly first. Where that finds mistakes, it is read again with holes: a value that is missing or not
well-formed cannot be read, and whatever asks for it raises Unreadable. So the rules never guess, and one mistake hides
no other.
"""

from collections.abc import Iterator
from dataclasses import fields
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from aks_infiniband.stack.settings import ranges, rules

_RANGE: Final = {
    "type": "string",
    "pattern": r"^[0-9]{1,3}(\.[0-9]{1,3}){3}/[0-9]{1,2}$",
    "patternErrorMessage": "must be an IPv4 range such as 10.224.0.0/16",
}
Zone = Annotated[str, rules.zone]
_Written = Annotated[IPv4Network, BeforeValidator(ranges.network), WithJsonSchema(_RANGE)]
Network = Annotated[_Written, AfterValidator(ranges.network_range)]
"""A range that a cluster may use."""
PublicRange = Annotated[_Written, AfterValidator(ranges.public_range)]
"""A range of the internet."""
Labels = dict[Annotated[str, rules.label_key], Annotated[str, rules.label_value]]
"""Labels by which nodes are picked."""
Text = Annotated[str, Field(min_length=1), rules.text]
"""Of a path, or a name that others gave."""

WITH_HOLES: Final = {"with_holes": True}
"""Context of a second reading: see Section."""
_HOLE: Final = object()
Plain = TypeVar("Plain")


class Unreadable(Exception):  # noqa: N818  it ends a rule, and is never shown
    """A value is asked for that is missing or not well-formed. That mistake has been told."""


class Section(BaseModel):
    """A mapping of the stack file; keys in YAML are camelCase."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _keys_with_holes(cls, given: Any, info: ValidationInfo) -> Any:
        """Without unknown keys, and with holes for missing ones; what is no mapping has nothing but holes."""
        if info.context is not WITH_HOLES:
            return given
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        if not isinstance(given, dict):
            return dict.fromkeys(fields, _HOLE)
        missing = {key: _HOLE for key, field in fields.items() if field.is_required()}
        return {**missing, **{key: value for key, value in given.items() if key in fields}}

    @field_validator("*", mode="wrap")
    @classmethod
    def _value_or_hole(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        try:
            return handler(value)
        except ValidationError:
            if info.context is WITH_HOLES:
                return _HOLE
            raise

    if not TYPE_CHECKING:  # with it, mypy would take every attribute for one that there is

        def __getattribute__(self, name: str) -> Any:
            value = super().__getattribute__(name)
            if value is _HOLE:
                raise Unreadable(name)
            return value

    def given(self, *names: str) -> Iterator[tuple[str, Any]]:
        """Key and value, as written, of those fields that the stack file gives."""
        for name in names:
            if name in self.model_fields_set and _is_whole(self.__dict__[name]):
                ((key, value),) = self.model_dump(mode="json", by_alias=True, include={name}).items()
                yield key, value

    def whole(self) -> dict[str, Any]:
        """Everything in it, by key. Raises Unreadable where anything is not well-formed."""
        for name in type(self).model_fields:
            value = getattr(self, name)
            if isinstance(value, Section):
                value.whole()
        return self.model_dump(by_alias=True)


def _is_whole(value: Any) -> bool:
    try:
        return value is not _HOLE and (not isinstance(value, Section) or bool(value.whole()))
    except Unreadable:
        return False


def plain(kind: type[Plain], *sources: object, **more: Any) -> Plain:
    """The library's own type, its fields taken from what has fields of the same names.

    sources: the last one has every field that is neither a property of an earlier one nor in `more`.
    """
    names = [field.name for field in fields(kind) if field.name not in more]  # type: ignore[arg-type]  # a dataclass
    from_which = {name: next((found for found in sources if hasattr(type(found), name)), sources[-1]) for name in names}
    return kind(**{name: getattr(source, name) for name, source in from_which.items()}, **more)
