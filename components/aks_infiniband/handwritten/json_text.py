"""JSON from outside, read in one defensive way."""

import json
import math
from typing import Any, Final

from aks_infiniband.handwritten.words import HandwrittenError, shortened

DEEPEST: Final = 64
TOO_DEEP: Final = f"is nested more than {DEEPEST} deep"
"""The words for a text that a person wrote."""
_DEEPEST_OF_MACHINES: Final = 200
"""The limit for a program's text: the engine's state holds objects of Kubernetes with their schemas."""


def opened(text: str) -> Any:
    """The JSON that a text holds, or the text itself if it holds none. Raises HandwrittenError for what no reader
    takes.
    """
    try:
        return _loaded(text)
    except json.JSONDecodeError:
        return text


def plain_data(value: Any) -> Any:
    """A value, or what it holds as JSON text. Raises HandwrittenError for one nested too deeply, or in itself, and for
    a number that JSON cannot hold: its path is the number's.
    """
    data = opened(value) if isinstance(value, str) else value
    _refuse_odd(data, DEEPEST)
    return data


def json_document(text: str | bytes) -> Any:
    """The one document of a JSON text, which a program has written. Raises HandwrittenError."""
    try:
        document = _loaded(text.decode("utf-8") if isinstance(text, bytes) else text)
    except UnicodeDecodeError as error:
        raise HandwrittenError(f"is not text in UTF-8: byte {error.start + 1} is not part of a text") from None
    except json.JSONDecodeError as error:
        what = error.msg[:1].lower() + error.msg[1:]
        raise HandwrittenError(f"is not JSON: {what} in line {error.lineno}, column {error.colno}") from None
    _refuse_odd(document, _DEEPEST_OF_MACHINES)
    return document


def _loaded(text: str) -> Any:
    """Raises JSONDecodeError for what is not JSON, and HandwrittenError for JSON that no reader takes."""
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise HandwrittenError(TOO_DEEP) from None
    except (json.JSONDecodeError, HandwrittenError):
        raise
    except ValueError:
        raise HandwrittenError("has a whole number of more than 4,300 digits") from None


def _refuse_odd(value: Any, deepest: int) -> None:
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while pending:
        path, part = pending.pop()
        if len(path) >= deepest:
            raise HandwrittenError(f"is nested more than {deepest} deep")
        if isinstance(part, dict):
            if odd := [key for key in part if not isinstance(key, str)]:
                raise HandwrittenError(f"has the key {shortened(odd[0])}; must be text: put it in quotes", path)
            pending += [((*path, key), item) for key, item in part.items()]
        elif isinstance(part, list | tuple):
            pending += [((*path, index), item) for index, item in enumerate(part)]
        elif isinstance(part, float) and not math.isfinite(part):
            raise HandwrittenError(f"is {part}; must be a finite number: JSON holds no other", path)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise HandwrittenError(f"has the key {shortened(twice)} twice in one mapping")
    return mapping
