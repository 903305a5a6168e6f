"""From a stack's configuration to a stack with nothing left open, or to one error that lists every mistake."""

import json
from collections.abc import Mapping
from typing import Any, Final

import pulumi
import pulumi.runtime.config
from pydantic import ValidationError

from aks_infiniband.stack.resolve import Resolution
from aks_infiniband.stack.settings.base import WITH_HOLES
from aks_infiniband.stack.settings.consistency import check
from aks_infiniband.stack.settings.mistakes import LOCATION, NAMESPACE, Mistake, SettingsError, in_words
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.stack.stack import Stack

REGISTRY_CREDENTIALS: Final = f"{NAMESPACE}:registryCredentials"
_HOLDS_SECURE: Final = (
    "holds a secret (secure:), which would end readable in the stack's state; set it without --secret, and where a "
    "chart needs a secret, put that in a Kubernetes Secret and its name in the Helm values"
)
_SHAPE: Final = (
    'must be the JSON of a Docker config that logs in to at least one registry: {"auths": {"HOST": {"auth": "…"}}}, '
    "where auth is user:password in Base64; or username and password in its place"
)


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
    resolution = Resolution(reading, credentials)
    mistakes += [*check(reading), *resolution.mistakes()]
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


def stack_configuration() -> dict[str, Any]:
    """The whole configuration of the stack that runs, every namespace; objects as JSON text.

    Without aks-infiniband:registryCredentials, the one key that is a secret: registry_credentials has it. Raises
    SettingsError where another of our keys holds a secret: no setting is one, and as Helm value or in an error's text
    it would be readable in the stack's state and logs.
    """
    configuration = dict(pulumi.runtime.config.CONFIG.get())
    if pulumi.runtime.config.is_config_secret(REGISTRY_CREDENTIALS):
        del configuration[REGISTRY_CREDENTIALS]
    secret = [
        Mistake(key=key, reason=_HOLDS_SECURE)
        for key in configuration
        if key.startswith(f"{NAMESPACE}:") and pulumi.runtime.config.is_config_secret(key)
    ]
    if secret:
        raise SettingsError(tuple(secret))
    return configuration


def registry_credentials() -> pulumi.Output[str] | None:
    """The login of the registry of images: a Docker config as JSON, secret; None where none is given.

    Raises SettingsError, which does not tell the value, for one that is not such a config, or that is not a secret.
    """
    text = pulumi.runtime.config.CONFIG.get().get(REGISTRY_CREDENTIALS)
    if text is None:
        return None
    reasons = []
    if not pulumi.runtime.config.is_config_secret(REGISTRY_CREDENTIALS):
        reasons.append("must be a secret: set it with `pulumi config set --secret aks-infiniband:registryCredentials`")
    if not _logs_in(text):
        reasons.append(_SHAPE)
    if reasons:
        raise SettingsError(tuple(Mistake(key=REGISTRY_CREDENTIALS, reason=reason) for reason in reasons))
    return pulumi.Output.secret(text)


def _logs_in(text: str) -> bool:
    """Whether it is what the kubelet takes of a kubernetes.io/dockerconfigjson."""
    try:
        config = json.loads(text)
    except ValueError:
        return False
    auths = config.get("auths") if isinstance(config, dict) else None
    return (
        isinstance(auths, dict)
        and bool(auths)
        and all(
            isinstance(login, dict) and (login.get("auth") or (login.get("username") and login.get("password")))
            for login in auths.values()
        )
    )
