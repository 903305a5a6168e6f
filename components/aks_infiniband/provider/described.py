"""Inputs that are made of what the library declares: their keys, types and texts are those of a section, of a
dataclass of arguments, or of several.
"""

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from ipaddress import IPv4Address, IPv4Network
from itertools import pairwise
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, NotRequired, TypeVar, Union, get_args, get_origin

import pulumi
from pulumi.provider.experimental.util import camel_case

from aks_infiniband.facts.releases import Release
from aks_infiniband.handwritten.section import Section
from aks_infiniband.provider import enumerations

_Inputs = TypeVar("_Inputs", bound=type)


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key of inputs."""

    kind: Any
    """As Pulumi's reader takes it: enumerations in place of literals, no unions."""
    required: bool
    text: str


KEYS_OF: Final[dict[str, Mapping[str, Key]]] = {}
"""By the name of inputs, their keys by their name in Python."""
_INPUTS: Final[dict[Any, Any]] = {Release: enumerations.OperatorRelease, IPv4Address: str, IPv4Network: str}
"""By what the library takes, what inputs have in its place: one word, or inputs that describe it."""


def describes(
    *kinds: type,
    without: Collection[str] = (),
    part: type | None = None,
    typed: Mapping[str, type] = MappingProxyType({}),
) -> Callable[[_Inputs], _Inputs]:
    """Give a TypedDict, in addition to its own keys, those of sections, of dataclasses and of inputs that are described
    before.

    without: the keys that these inputs do not have. part: the class that stands for them in the arguments of the
    library; by default the one kind. typed: types of keys, if two enumerations have the same values.
    """
    keys = {name: key for kind in kinds for name, key in _keys(kind, without, typed).items()}

    def declare(inputs: _Inputs) -> _Inputs:
        every = {**keys, **_keys(inputs)}
        required = frozenset(name for name, key in every.items() if key.required)
        inputs.__annotations__ = {
            name: key.kind if key.required else NotRequired[key.kind] for name, key in every.items()
        }
        inputs.__required_keys__ = required  # type: ignore[attr-defined]  # of a TypedDict
        inputs.__optional_keys__ = frozenset(every) - required  # type: ignore[attr-defined]  # the same
        inputs.__doc__ = inputs.__doc__ or kinds[0].__doc__
        KEYS_OF[inputs.__name__] = every
        if part or len(kinds) == 1:
            _INPUTS[part or kinds[0]] = inputs
        return inputs

    return declare


def _keys(
    kind: Any, without: Collection[str] = (), typed: Mapping[str, type] = MappingProxyType({})
) -> Mapping[str, Key]:
    """Keys of inputs, of a section, of a dataclass, or of a TypedDict as it is written."""
    if kind.__name__ in KEYS_OF:
        return {name: key for name, key in KEYS_OF[kind.__name__].items() if name not in without}
    if issubclass(kind, Section):
        return {
            name: Key(
                kind=typed.get(name) or _type(field.annotation),
                required=field.is_required(),
                text=_text(field.description or getattr(field.annotation, "__doc__", ""), field.default),
            )
            for name, field in kind.model_fields.items()
            if name not in without
        }
    texts = texts_of(kind)
    if dataclasses.is_dataclass(kind):
        missing, made = dataclasses.MISSING, dataclasses.fields(kind)
        return {
            field.name: Key(
                kind=typed.get(field.name) or _type(field.type),
                required=field.default is missing and field.default_factory is missing,
                text=_text(texts[field.name], field.default),
            )
            for field in made
            if field.name not in without
        }
    return {
        name: Key(kind=_bare(annotation), required=name in kind.__required_keys__, text=texts[name])
        for name, annotation in inspect.get_annotations(kind).items()
    }


def texts_of(kind: type) -> dict[str, str]:
    """The text below each attribute of a class and of its bases, as far as they are the library's."""
    own = [base for base in reversed(kind.__mro__) if base.__module__.startswith(__name__.partition(".")[0])]
    return {name: text for base in own or [kind] for name, text in _texts(base)}


def _texts(kind: type) -> Iterator[tuple[str, str]]:
    body = _body(kind)
    for attribute, below in pairwise(body):
        match attribute, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, inspect.cleandoc(text)


@cache
def _body(kind: type) -> Sequence[ast.stmt]:
    (declared,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(declared, ast.ClassDef)
    return declared.body


def _text(text: str | None, default: Any) -> str:
    plain = " ".join((text or "").split())
    default = getattr(default, "name", default)
    if "Default: " in plain or not isinstance(default, bool | int | float | str | IPv4Network | IPv4Address):
        return plain
    return f"{plain} Default: {str(default).lower() if isinstance(default, bool) else default}."


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is NotRequired else annotation


def _type(annotation: Any) -> Any:
    """Raises LookupError for a type that no input has, such as a resource: `without` says that it is left out."""
    origin, members = get_origin(annotation), [each for each in get_args(annotation) if each is not NoneType]
    # An input of Pulumi's is a union of a value, of one that is awaited, and of an output.
    if any(get_origin(each) is Awaitable for each in members):
        return pulumi.Input[_type(members[0])]  # type: ignore[misc]  # made at run time
    if origin is Annotated or (origin in (Union, UnionType) and len(members) == 1):
        return _type(members[0])
    if origin is Literal:
        return _enumeration(frozenset(members))
    if origin in _SHAPES:
        return _SHAPES[origin](_type(members[-1] if origin in (dict, Mapping) else members[0]))
    if annotation not in (*_PLAIN, *_INPUTS):
        raise LookupError(f"{annotation}: describe it before, or name its key in `without`")
    return _INPUTS.get(annotation, annotation)


_PLAIN: Final = (str, bool, int, float, Any)
_SHAPES: Final[Mapping[Any, Callable[[Any], Any]]] = {
    **dict.fromkeys((tuple, list, Sequence), lambda item: list[item]),  # type: ignore[valid-type]  # made at run time
    **dict.fromkeys((dict, Mapping), lambda item: dict[str, item]),  # type: ignore[valid-type]  # the same
}


def _enumeration(values: frozenset[Any]) -> type:
    """The enumeration with these values. Raises LookupError if there is none, or more than one."""
    kinds = [each for each in vars(enumerations).values() if isinstance(each, type) and issubclass(each, StrEnum)]
    alike = [each for each in kinds if values == {*each}]
    if len(alike) != 1:
        names = ", ".join(each.__name__ for each in alike) or "none"
        raise LookupError(
            f"one enumeration of provider/enumerations.py must have {sorted(values)}; these have: {names}"
        )
    return alike[0]


def camel(texts: Mapping[str, str]) -> dict[str, str]:
    """The texts by their names in the schema."""
    return {camel_case(name): text for name, text in texts.items()}
