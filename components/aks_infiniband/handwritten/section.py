"""A mapping that people write by hand, in a stack file or as an argument of a component: one class describes both.

A stack file is read strictly first. Where that finds mistakes, it is read again with holes: a value that is missing or
not well-formed cannot be read, and whatever asks for it raises Unreadable. So the rules never guess, and one mistake
hides no other.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

WITH_HOLES: Final = {"with_holes": True}
"""Context of a second reading: see Section."""
_HOLE: Final = object()


class Unreadable(Exception):  # noqa: N818  it ends a rule, and is never shown
    """A rule asked for a value that is missing or not well-formed. That mistake is reported already."""


class Section(BaseModel):
    """One mapping of a stack file, and at the same time the argument that a component takes.

    A program gives the fields by their names, such as drain_timeout_seconds; a stack file, and the texts below the
    fields, by the same names in camelCase, such as drainTimeoutSeconds. Text, type, bounds and default stand here only.

    Raises pydantic's ValidationError, a ValueError that names field, value and what is allowed.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        alias_generator=to_camel,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _keys_with_holes(cls, given: Any, info: ValidationInfo) -> Any:
        """The section without unknown keys, and with holes for missing ones. If it is no mapping, it has nothing but
        holes.
        """
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
