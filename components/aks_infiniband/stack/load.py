"""From a stack's configuration to a stack with nothing left open, or to one error that lists every mistake."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi
from pydantic import ValidationError

from aks_infiniband.stack.resolve import Resolution
from aks_infiniband.stack.settings.base import WITH_HOLES
from aks_infiniband.stack.settings.consistency import check
from aks_infiniband.stack.settings.mistakes import LOCATION, NAMESPACE, Mistake, SettingsError, in_words, key_of
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.stack.settings.running import registry_credentials, stack_configuration
from aks_infiniband.stack.stack import Stack


def load(configuration: Mapping[str, Any] | None = None, *, credentials: pulumi.Input[str] | None = None) -> Stack:
    """The stack that a configuration describes.

    configuration: keys with their namespace, such as aks-infiniband:pools; a value is plain data, or JSON text as
        Pulumi hands it to a program. Other namespaces are ignored, but for azure-native:location. Default: that of the
        stack that runs, with its secret aks-infiniband:registryCredentials.
    credentials: a docker config, as JSON, for the registry of images.

    Raises SettingsError with every mistake: unknown and missing keys, wrong types, values that Azure would refuse or
    that do not go together, and what is wrong with the files that they name: Helm values, topologies, kubeconfig.
    """
    mistakes: list[Mistake] = []
    if configuration is None:
        configuration = stack_configuration()
        try:
            credentials = registry_credentials()
        except SettingsError as error:
            mistakes += error.mistakes
    misplaced = f"{NAMESPACE}:location"
    if misplaced in configuration:
        mistakes.append(Mistake(key=misplaced, reason=f"is not known; the region is {LOCATION}"))
    raw = _raw(configuration)
    try:
        settings = Settings.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        mistakes += in_words(error)
        settings = Settings.model_validate(raw, by_alias=True, by_name=False, context=WITH_HOLES)
    reading = Reading(settings)
    mistakes += [
        Mistake(key=key_of(path), reason=reason if value is None else f"is {value!r}; {reason}")
        for path, value, reason in check(reading)
    ]
    resolution = Resolution(reading, credentials)
    mistakes += resolution.mistakes()
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return resolution.stack()


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
