"""A mapping that people write by hand, in a stack file or as an argument of a component: one class describes both.

A stack file is read strictly first. If that finds mistakes, it is read again with holes: a value that is missing or not
well-formed cannot be read, and every rule that reads it raises Unreadable. So the rules never guess, and one mistake
hides no other.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

WITH_HOLES: Final = {"with_holes": True}
"""Context of a second reading: see Section."""
HOLE: Final = object()
"""The mark of a value that is not well-formed, until the section is made."""
_LEFT_OUT: Final = object()
"""The mark of a value that follows from others, until the section is made."""


class Unreadable(Exception):  # noqa: N818  it ends a rule, and is never shown
    """A rule read a value that is missing or not well-formed. That mistake is reported already."""


class Follows:
    """The default of a field that follows from other fields of its section."""

    def __init__(self, read: Callable[[Any], Any]) -> None:
        self.read = read

    def __call__(self) -> object:
        return _LEFT_OUT


def follows(read: Callable[[Any], Any]) -> Any:
    """A field that may be left out, and then follows from the section that it is in. Null, and an empty value of its
    type, leave it out too.
    """
    return Field(default_factory=Follows(read))


class _NotGiven:
    """The attribute of a field in a section that holds no value of it. A value that is held hides this attribute."""

    def __init__(self, name: str, default: object) -> None:
        self._name, self._default = name, default

    def __get__(self, section: Any, owner: type) -> Any:
        if section is None:  # pydantic reads the default from the class
            raise AttributeError(self._name)
        if self._name in section.model_fields_set or not isinstance(self._default, Follows):
            raise Unreadable(self._name)
        return self._default.read(section)


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
    def _keys_with_holes(cls, document: Any, info: ValidationInfo) -> Any:
        """The section without unknown keys, and with holes for missing ones. If it is not a mapping, each value is a
        hole.
        """
        if info.context is not WITH_HOLES:
            return document
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        if not isinstance(document, dict):
            return dict.fromkeys(fields, HOLE)
        missing = {key: HOLE for key, field in fields.items() if field.is_required()}
        return {**missing, **{key: value for key, value in document.items() if key in fields}}

    @field_validator("*", mode="wrap")
    @classmethod
    def _value_or_hole(cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        may_follow = isinstance(cls.model_fields[str(info.field_name)].default_factory, Follows)
        if value is None and may_follow:
            return _LEFT_OUT
        try:
            read = handler(value)
            return _LEFT_OUT if may_follow and read in ((), {}) else read
        except ValidationError:
            if info.context is WITH_HOLES:
                return HOLE
            raise

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        for name, field in cls.model_fields.items():
            setattr(cls, name, _NotGiven(name, field.default_factory))

    def model_post_init(self, context: Any) -> None:
        """Hold only values."""
        for name, value in list(self.__dict__.items()):
            if value is HOLE or value is _LEFT_OUT:
                del self.__dict__[name]
            if value is _LEFT_OUT:
                self.model_fields_set.discard(name)

    @classmethod
    def with_holes(cls, values: dict[str, Any]) -> Self:
        """The section with those of the values, by field, that are well-formed."""
        return cls.model_validate({to_camel(name): value for name, value in values.items()}, context=WITH_HOLES)

    def changed(self, **values: Any) -> Self:
        """The same with other values. Values that followed from the old ones follow from these."""
        return type(self)(**{**{name: getattr(self, name) for name in self.model_fields_set}, **values})

    def said(self, name: str) -> Any:
        """The value of a field; None if it follows from others. Raises Unreadable if it is not well-formed."""
        return getattr(self, name) if name in self.model_fields_set or name in self.__dict__ else None

    def given(self, *names: str) -> Iterator[tuple[str, Any]]:
        """Key and value, as written, of those fields that the stack file gives."""
        for name in names:
            if name in self.model_fields_set and _is_whole(self.__dict__.get(name, HOLE)):
                ((key, value),) = self.model_dump(mode="json", by_alias=True, include={name}).items()
                yield key, value

    def whole(self) -> dict[str, Any]:
        """Everything in it, by key. Raises Unreadable if anything is not well-formed."""
        for name in type(self).model_fields:
            value = self.said(name)
            if isinstance(value, Section):
                value.whole()
        return self.model_dump(by_alias=True)


def _is_whole(value: Any) -> bool:
    try:
        return value is not HOLE and (not isinstance(value, Section) or bool(value.whole()))
    except Unreadable:
        return False
