"""What is wrong with a stack file, in words that its author can act on."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

import pulumi
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from aks_infiniband.handwritten import first_lines, shortened
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.terminal import printable

Path = tuple[str | int, ...]
"""Where a value lies below our namespace; azure-native:location is ("location",)."""
NAMESPACE: Final = "aks-infiniband"
LOCATION: Final = "azure-native:location"

_SHAPES: Final = {
    "tuple_type": "a list, each item behind a dash",
    "dict_type": "a mapping, key: value",
    "model_type": "a mapping, key: value",
    "string_type": "text",
    "string_too_short": "text, and not empty",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number, without quotes or unit",
    "float_parsing": "a number, without quotes or unit",
    "finite_number": "a finite number",
    "bool_type": "true or false, without quotes",
    "ip_v4_address": "an IPv4 address",
}
"""What a stack file's author calls the types, by pydantic's name of the mistake."""
_MISSING: Final[dict[Path, str]] = {
    ("pools",): "it must list at least one pool: name, vmSize and count",
    ("cluster", "kubernetesVersion"): 'it must be given and quoted, such as kubernetesVersion: "1.35"',
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Mistake:
    """One thing that is wrong in a stack file."""

    key: str
    """Path of the value, such as aks-infiniband:pools[0].vmSize."""
    reason: str
    """What was found and what is allowed."""

    def __str__(self) -> str:
        return f"{self.key} {self.reason}"


class SettingsError(pulumi.RunError):
    """The stack's configuration holds mistakes; the text lists them, as far as 2 kB go."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = "\n".join(f"  - {mistake}" for mistake in mistakes)
        text = f"the stack's configuration holds {count}, and nothing was created:\n{lines}"
        super().__init__(first_lines(printable(text)))


def key_of(path: Path) -> str:
    """A path as `pulumi config --path` takes it."""
    if path == ("location",):
        return LOCATION
    first, *rest = path
    return f"{NAMESPACE}:{_word(first)}" + "".join(
        f"[{part}]" if isinstance(part, int) else f".{_word(part)}" for part in rest
    )


def _word(part: str | int) -> str:
    """A key as people write it, and only the beginning of a long one."""
    return str(part) if re.fullmatch(r"[\w./:@ -]{1,100}", str(part)) else shortened(part)


def wrong(path: Path, value: Any, reason: str) -> Mistake:
    """A mistake at a path; value: as the stack file has it, None where it is missing or says nothing here."""
    return Mistake(key=key_of(path), reason=reason if value is None else f"is {shortened(value)}; {reason}")


def in_words(error: ValidationError) -> Iterator[Mistake]:
    """Everything that is not well-formed in itself."""
    for detail in error.errors(include_url=False):
        if detail["type"] == "too_short" and detail["input"]:
            continue  # pydantic counts no items that are wrong themselves, and those are told
        where = tuple(part for part in detail["loc"] if part != "[key]")
        if detail["type"] == "extra_forbidden":
            yield _unknown(where, _model_at(where[:-1]))
        elif detail["type"] == "missing":
            yield Mistake(key=key_of(where), reason=f"is missing; {_MISSING.get(where, 'it must be given')}")
        else:
            yield Mistake(key=key_of(where), reason=f"is {shortened(detail['input'])}; {_allowed(detail)}")


def nearest(given: str, known: list[str]) -> str | None:
    """The known word that was probably meant."""
    spellings = {word.lower(): word for word in known}
    close = get_close_matches(given[:100].lower(), spellings, n=1, cutoff=0.5)
    return spellings[close[0]] if close else None


def did_you_mean(given: str, known: list[str]) -> str:
    """The question that goes before what is known; empty where nothing is near."""
    close = nearest(given, known)
    return f"did you mean {close}? " if close else ""


def _allowed(detail: ErrorDetails) -> str:
    kind, given = detail["type"], detail["input"]
    if kind == "string_type" and isinstance(given, int | float):
        return "must be a string: put it in quotes"
    if kind.startswith("int_") and isinstance(given, str) and given.isdecimal():
        return "must be a whole number: leave the quotes out"
    if kind in {"too_long", "too_short"}:
        bound = "at most" if kind == "too_long" else "at least"
        return f"must have {bound} {detail['ctx'].get('max_length', detail['ctx'].get('min_length'))}"
    if kind in _SHAPES:
        return f"must be {_SHAPES[kind]}{', or {} for all defaults' if given is None and 'model' in kind else ''}"
    text = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    text = text[:1].lower() + text[1:]
    if kind != "literal_error" or not isinstance(given, str):
        return text
    # pydantic lists the values of a literal as 'a', 'b' or 'c'.
    close = nearest(given, str(detail["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", "))
    return f"{text}; did you mean {close}?" if close else text


def _unknown(path: Path, model: type[BaseModel]) -> Mistake:
    if path == ("registryCredentials",):
        return Mistake(
            key=key_of(path), reason="is not a setting; give it with `pulumi config set --secret`, so that it is secret"
        )
    keys = [field.alias or name for name, field in model.model_fields.items() if name != "location"]
    hint = did_you_mean(str(path[-1]), keys)
    return Mistake(key=key_of(path), reason=f"is not known; {hint}known here: {', '.join(sorted(keys))}")


def _model_at(path: Path) -> type[BaseModel]:
    """The model that describes what lies at a path."""
    model: type[BaseModel] = Settings
    for part in path:
        fields = {field.alias or name: field for name, field in model.model_fields.items()}
        if part in fields:
            model = model_in(fields[str(part)].annotation) or model
    return model


def model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation speaks of: itself, one of a union, or that of a list's or a mapping's items."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in {tuple, dict, Union, UnionType, Annotated}:
        return next((model for part in get_args(annotation) if (model := model_in(part))), None)
    return None
