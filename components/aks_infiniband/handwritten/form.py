"""A document held against the form that it must have, a pydantic model; what is wrong, in words that people act on."""

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from aks_infiniband.handwritten.words import HandwrittenError, shortened

_SHAPES: Final = {
    "tuple_type": "a list, each item behind a dash",
    "list_type": "a list",
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
"""People's names for the types, by pydantic's name of the mistake."""


class Form(BaseModel):
    """The required form of another program's document. Further keys are its own matter."""

    model_config = ConfigDict(extra="ignore", strict=True, allow_inf_nan=False)


_Form = TypeVar("_Form", bound=BaseModel)


def formed(model: type[_Form], document: Any) -> _Form:
    """The document in its form. Raises HandwrittenError, which names the first place that is wrong, the value there and
    what is allowed.
    """
    try:
        return model.model_validate(document)
    except ValidationError as error:
        (path, reason), *more = told(error)
        others = f" ({len(more)} more are wrong)" if more else ""
        raise HandwrittenError(f"{reason}{others}", path) from None


def told(error: ValidationError) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The path and the reason of everything that is wrong."""
    for detail in error.errors(include_url=False):
        if detail["type"] == "missing":
            yield detail["loc"], "is missing; it must be given"
        elif detail["type"] == "extra_forbidden":
            yield detail["loc"], "is not known"
        else:
            yield detail["loc"], f"is {shortened(detail['input'])}; {allowed(detail)}"


def nearest(given: str, known: list[str]) -> str | None:
    """The known word that was probably meant."""
    spellings = {word.lower(): word for word in known}
    close = get_close_matches(given[:100].lower(), spellings, n=1, cutoff=0.5)
    return spellings[close[0]] if close else None


def did_you_mean(word: str, known: list[str]) -> str:
    """The question `did you mean …?` for the nearest known name; empty if none is near."""
    close = nearest(word, known)
    return f"did you mean {close}? " if close else ""


def allowed(detail: ErrorDetails) -> str:
    """The values that are allowed in the place of a wrong one."""
    kind, value = detail["type"], detail["input"]
    if kind == "string_type" and isinstance(value, int | float):
        return "must be a string: put it in quotes"
    if kind.startswith("int_") and isinstance(value, str) and value.isdecimal():
        return "must be a whole number: leave the quotes out"
    if kind in {"too_long", "too_short"}:
        bound = "at most" if kind == "too_long" else "at least"
        return f"must have {bound} {detail['ctx'].get('max_length', detail['ctx'].get('min_length'))}"
    if kind in _SHAPES:
        return f"must be {_SHAPES[kind]}{', or {} for all defaults' if value is None and 'model' in kind else ''}"
    text = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    text = text[:1].lower() + text[1:]
    if kind != "literal_error" or not isinstance(value, str):
        return text
    # pydantic lists the values of a literal as 'a', 'b' or 'c'.
    close = nearest(value, str(detail["ctx"]["expected"]).replace(" or ", ", ").replace("'", "").split(", "))
    return f"{text}; did you mean {close}?" if close else text
