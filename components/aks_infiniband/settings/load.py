"""From a stack's configuration to settings, or to one error that lists every mistake in it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import pulumi.runtime.config
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from aks_infiniband.settings import consistency
from aks_infiniband.settings.model import PoolSettings, Settings

NAMESPACE: Final = "aks-infiniband"
_LOCATION: Final = "azure-native:location"
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
}
"""What a stack file's author calls the types, by pydantic's name of the mistake."""


_HOLDS_SECURE: Final = (
    "holds a secret (secure:), which would end readable in the stack's state; set it without --secret, and where a "
    "chart needs a secret, put that in a Kubernetes Secret and its name in the Helm values"
)


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
    """The stack's configuration holds mistakes; the text lists all of them."""

    def __init__(self, mistakes: tuple[Mistake, ...]) -> None:
        self.mistakes = mistakes
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = "\n".join(f"  - {mistake}" for mistake in mistakes)
        super().__init__(f"the stack's configuration holds {count}, and nothing was created:\n{lines}")


def stack_configuration() -> dict[str, Any]:
    """The whole configuration of the stack that runs, every namespace; objects as JSON text.

    Raises SettingsError where one of our keys holds a secret: no setting is one, and as Helm value or in an error's
    text it would be readable in the stack's state and logs.
    """
    configuration = dict(pulumi.runtime.config.CONFIG.get())
    secret = [
        Mistake(key=key, reason=_HOLDS_SECURE)
        for key in configuration
        if key.startswith(f"{NAMESPACE}:") and pulumi.runtime.config.is_config_secret(key)
    ]
    if secret:
        raise SettingsError(tuple(secret))
    return configuration


def load(configuration: Mapping[str, Any]) -> Settings:
    """The settings of a stack.

    configuration: keys with their namespace, such as aks-infiniband:pools; a value is plain data, or JSON text as
        Pulumi hands it to a program. Other namespaces are ignored, but for azure-native:location.

    Raises SettingsError with every mistake: unknown and missing keys, wrong types, values that Azure would refuse, and
    values that do not go together.
    """
    raw = _raw(configuration)
    known, mistakes = _sections(raw)
    misplaced = f"{NAMESPACE}:location"
    if misplaced in configuration:
        mistakes.insert(0, Mistake(key=misplaced, reason=f"is not known; the region is {_LOCATION}"))
    mistakes += [
        Mistake(key=_key(path), reason=f"is {value!r}; {reason}") for path, value, reason in consistency.check(known)
    ]
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return Settings.model_validate(raw, by_alias=True, by_name=False)


def _raw(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping that the model takes: our namespace's keys without it, JSON text opened."""
    prefix = f"{NAMESPACE}:"
    raw = {key.removeprefix(prefix): _plain(value) for key, value in configuration.items() if key.startswith(prefix)}
    raw.pop("location", None)  # `_sections` says where it belongs
    if _LOCATION in configuration:
        raw["location"] = configuration[_LOCATION]
    return raw


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        opened: object = json.loads(value)
    except ValueError:
        return value
    return opened


def _sections(raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Mistake]]:
    """Each section that is well-formed in itself (of pools, by index, their sound fields), and what is wrong."""
    known: dict[str, Any] = {}
    mistakes = [_unknown((key,), Settings) for key in raw if key not in {*_keys(Settings), "location"}]
    for name, field in Settings.model_fields.items():
        key = field.alias or name
        if key not in raw:
            if field.is_required():
                mistakes.append(Mistake(key=_key((key,)), reason=f"is missing; {_described(key)}"))
            else:
                known[key] = field.get_default()
            continue
        value, wrong = _validated(Settings.__annotations__[name], raw[key], (key,))
        mistakes += wrong
        if not wrong:
            known[key] = value
    known["pools"] = _sound_fields(raw.get("pools"))
    return known, mistakes


def _sound_fields(raw: object) -> dict[int, dict[str, Any]]:
    """Of each pool, what is well-formed: one wrong field must not hide what is wrong with the others."""
    sound: dict[int, dict[str, Any]] = {}
    for index, item in enumerate(raw if isinstance(raw, list) else ()):
        wrong: set[str | int] = set()
        try:
            PoolSettings.model_validate(item, by_alias=True, by_name=False)
        except ValidationError as error:
            wrong = {part for detail in error.errors() for part in detail["loc"][:1]}
        if isinstance(item, dict):
            sound[index] = {key: value for key, value in item.items() if key not in wrong}
    return sound


def _validated(annotation: Any, value: object, path: tuple[str | int, ...]) -> tuple[Any, list[Mistake]]:
    try:
        return TypeAdapter(annotation).validate_python(value, by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, list(_mistakes(error, path))


def _mistakes(error: ValidationError, path: tuple[str | int, ...]) -> Iterator[Mistake]:
    for detail in error.errors(include_url=False):
        where = path + tuple(part for part in detail["loc"] if part != "[key]")
        if detail["type"] == "too_short" and detail["input"]:
            continue  # its items were given and are wrong, and reported one by one
        if detail["type"] == "extra_forbidden":
            yield _unknown(where, _model_at(where[:-1]))
        elif detail["type"] == "missing":
            yield Mistake(key=_key(where), reason="is missing; it must be given")
        else:
            yield Mistake(key=_key(where), reason=f"is {detail['input']!r}; {_allowed(detail)}")


def _allowed(detail: ErrorDetails) -> str:
    kind, given = detail["type"], detail["input"]
    if kind == "string_type" and isinstance(given, int | float):
        return "must be a string: put it in quotes"
    if kind.startswith("int_") and isinstance(given, str) and given.isdecimal():
        return "must be a whole number: leave the quotes out"
    if kind == "too_long":
        return f"must have at most {detail['ctx']['max_length']}"
    if kind == "too_short":
        return f"must have at least {detail['ctx']['min_length']}"
    if kind in _SHAPES:
        return f"must be {_SHAPES[kind]}{', or {} for all defaults' if given is None and 'model' in kind else ''}"
    text = detail["msg"].removeprefix("Value error, ").replace("Input should", "must")
    return text[:1].lower() + text[1:]


def _unknown(path: tuple[str | int, ...], model: type[BaseModel]) -> Mistake:
    keys = _keys(model)
    spellings = {key.lower(): key for key in keys}
    close = get_close_matches(str(path[-1]).lower(), spellings, n=1, cutoff=0.5)
    hint = f"did you mean {spellings[close[0]]}? " if close else ""
    return Mistake(key=_key(path), reason=f"is not known; {hint}known here: {', '.join(sorted(keys))}")


def _keys(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items() if name != "location"]


def _model_at(path: tuple[str | int, ...]) -> type[BaseModel]:
    """The model that describes what lies at a path."""
    model: type[BaseModel] = Settings
    for part in path:
        if isinstance(part, str):
            fields = {field.alias or name: field for name, field in model.model_fields.items()}
            model = _model_in(fields[part].annotation) or model
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in {tuple, Union, UnionType}:
        return next((model for part in get_args(annotation) if (model := _model_in(part))), None)
    return None


def _described(key: str) -> str:
    return {
        "location": "it must name an Azure region, such as southcentralus",
        "cluster": 'it must give at least kubernetesVersion, such as {kubernetesVersion: "1.34"}',
        "pools": "it must list at least one pool: name, vmSize and count",
    }[key]


def _key(path: tuple[str | int, ...]) -> str:
    """A path as `pulumi config --path` takes it."""
    if path == ("location",):
        return _LOCATION
    first, *rest = path
    return f"{NAMESPACE}:{first}" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)
