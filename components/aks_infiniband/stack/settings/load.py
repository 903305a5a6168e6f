"""From a stack's configuration to settings, or to one error that lists every mistake in it."""

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from aks_infiniband.stack.settings.consistency.seen import Seen
from aks_infiniband.stack.settings.consistency.topics import check
from aks_infiniband.stack.settings.mistakes import (
    LOCATION,
    NAMESPACE,
    Mistake,
    Path,
    SettingsError,
    details,
    in_words,
    key_of,
)
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.sound import sound


def load(configuration: Mapping[str, Any]) -> Settings:
    """The settings of a stack.

    configuration: keys with their namespace, such as aks-infiniband:pools; a value is plain data, or JSON text as
        Pulumi hands it to a program. Other namespaces are ignored, but for azure-native:location.

    Raises SettingsError with every mistake: unknown and missing keys, wrong types, values that Azure would refuse, and
    values that do not go together.
    """
    raw = _raw(configuration)
    mistakes: list[Mistake] = []
    misplaced = f"{NAMESPACE}:location"
    if misplaced in configuration:
        mistakes.append(Mistake(key=misplaced, reason=f"is not known; the region is {LOCATION}"))
    wrong: frozenset[Path] = frozenset()
    try:
        settings = Settings.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        mistakes += in_words(error)
        wrong = frozenset(detail["loc"] for detail in details(error))
        settings = sound(Settings, raw, wrong)
    mistakes += [
        Mistake(key=key_of(path), reason=reason if value is None else f"is {value!r}; {reason}")
        for path, value, reason in check(Seen(settings, wrong))
    ]
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return settings


def _raw(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping that the model takes: our namespace's keys without it, JSON text opened."""
    prefix = f"{NAMESPACE}:"
    raw = {key.removeprefix(prefix): _plain(value) for key, value in configuration.items() if key.startswith(prefix)}
    raw.pop("location", None)  # `load` says where it belongs
    if LOCATION in configuration:
        raw["location"] = configuration[LOCATION]
    return raw


def _plain(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        opened: object = json.loads(value)
    except ValueError:
        return value
    return opened
