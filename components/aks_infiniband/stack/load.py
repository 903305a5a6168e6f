"""From a stack's configuration to a stack with nothing left open, or to one error that lists every mistake."""

import base64
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatch
from typing import Any, Final

import pulumi
import pulumi.runtime.config
from pydantic import ValidationError

from aks_infiniband.facts.pool import MOST_POOLS, too_many
from aks_infiniband.handwritten import HandwrittenError, opened, plain_data
from aks_infiniband.handwritten.section import WITH_HOLES
from aks_infiniband.stack.settings.consistency import check
from aks_infiniband.stack.settings.mistakes import LOCATION, NAMESPACE, Mistake, SettingsError, in_words, key_of
from aks_infiniband.stack.settings.model import Settings
from aks_infiniband.stack.settings.reading import Reading
from aks_infiniband.stack.stack import Stack

REGISTRY_CREDENTIALS: Final = f"{NAMESPACE}:registryCredentials"
_MISPLACED: Final = f"{NAMESPACE}:location"
_NAMESPACES: Final = (NAMESPACE, LOCATION.partition(":")[0])
_HOLDS_SECURE: Final = (
    "holds a secret (secure:), which would end readable in the stack's state; set it without --secret, and if a "
    "chart needs a secret, put that in a Kubernetes Secret and its name in the Helm values"
)
_SHAPE: Final = (
    'must be the JSON of a Docker config that logs in to at least one registry: {"auths": {"HOST": {"auth": "…"}}}, '
    "and auth is user:password in Base64; or username and password in its place"
)


def load(configuration: Mapping[str, Any] | None = None, *, credentials: pulumi.Input[str] | None = None) -> Stack:
    """The stack that a configuration describes.

    configuration: keys with their namespace, such as aks-infiniband:pools; a value is plain data, or JSON text as
        Pulumi hands it to a program. Other namespaces are ignored, except for azure-native:location. Default: that of
        the stack that runs, with its secret aks-infiniband:registryCredentials.
    credentials: a docker config, as JSON, for the registry of images.

    Raises SettingsError with every mistake: unknown and missing keys, wrong types, values that Azure would refuse or
    that contradict each other, and errors in the files that they name: Helm values, topologies, kubeconfig.
    """
    mistakes: list[Mistake] = []
    if configuration is None:
        configuration = stack_configuration()
        try:
            credentials = registry_credentials()
        except SettingsError as error:
            mistakes += error.mistakes
    mistakes += _nobody_reads(configuration)
    raw = _raw(configuration)
    try:
        settings = Settings.model_validate(raw, by_alias=True, by_name=False)
    except ValidationError as error:
        mistakes += in_words(error)
        settings = Settings.model_validate(raw, by_alias=True, by_name=False, context=WITH_HOLES)
    reading = Reading(settings)
    stack = Stack(reading=reading, registry_credentials=credentials)
    mistakes += [*check(reading), *stack.mistakes()]
    if mistakes:
        raise SettingsError(tuple(mistakes))
    return stack.whole()


def _raw(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping that the model takes: the keys of our namespace without the namespace, with JSON text parsed.

    Raises SettingsError for what must not be read further: endless data, and secrets.
    """
    prefix = f"{NAMESPACE}:"
    raw, unusable = dict[str, Any](), list[Mistake]()
    for key, value in configuration.items():
        if not key.startswith(prefix) or key == _MISPLACED:  # `_nobody_reads` names the right key
            continue
        try:
            raw[key.removeprefix(prefix)] = read = plain_data(value)
        except HandwrittenError as error:
            unusable.append(Mistake(key=key_of((key.removeprefix(prefix), *error.path)), reason=str(error)))
        else:
            if key != REGISTRY_CREDENTIALS and _holds_secure(read):
                unusable.append(Mistake(key=key[:100], reason=_HOLDS_SECURE))
    unusable += _endless(raw)
    if LOCATION in configuration:
        raw["location"] = configuration[LOCATION]
        if _holds_secure(raw["location"]):
            unusable.append(Mistake(key=LOCATION, reason=_HOLDS_SECURE))
    if unusable:
        raise SettingsError(tuple(unusable))
    return raw


def _endless(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """More pools than any cluster takes: they are not read, because thousands take long to judge."""
    pools = raw.get("pools")
    if isinstance(pools, list | tuple) and len(pools) > MOST_POOLS:
        reason = too_many(len(pools), beside_the_systems="existingCluster" not in raw)
        yield Mistake(key=key_of(("pools",)), reason=str(reason))


def _holds_secure(value: Any) -> bool:
    """True if any part of a value is a secret, at any depth. Without recursion, because a stack file may be deeper than
    Python's stack.
    """
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            if set(part) == {"secure"}:
                return True
            left += part.values()
        elif isinstance(part, list | tuple):
            left += part
    return False


def _nobody_reads(configuration: Mapping[str, Any]) -> Iterator[Mistake]:
    """Mistakes for keys that no program reads: those of a namespace that is almost ours, and the region in ours."""
    if _MISPLACED in configuration:
        yield Mistake(key=_MISPLACED, reason=f"is not known; the region is {LOCATION}")
    for key in configuration:
        namespace, _, name = key[:200].partition(":")
        close = get_close_matches(namespace.strip().lower(), _NAMESPACES, n=1, cutoff=0.85)
        if namespace not in _NAMESPACES and close:
            reason = f"is of a namespace that no program reads; did you mean {close[0]}:{name}?"
            yield Mistake(key=key[:100], reason=reason)


def stack_configuration() -> dict[str, Any]:
    """The whole configuration of the stack that runs, every namespace; objects as JSON text.

    The result leaves out aks-infiniband:registryCredentials, the one key that is a secret, which registry_credentials
    reads. Raises SettingsError if another of our keys holds a secret. No setting is one, and as a Helm value or in an
    error's text it would be readable in the stack's state and logs.
    """
    configuration = dict(pulumi.runtime.config.CONFIG.get())
    if pulumi.runtime.config.is_config_secret(REGISTRY_CREDENTIALS):
        del configuration[REGISTRY_CREDENTIALS]
    secret = [
        Mistake(key=key, reason=_HOLDS_SECURE)
        for key in configuration
        if (key.startswith(f"{NAMESPACE}:") or key == LOCATION) and pulumi.runtime.config.is_config_secret(key)
    ]
    if secret:
        raise SettingsError(tuple(secret))
    return configuration


def registry_credentials() -> pulumi.Output[str] | None:
    """The login of the registry of images: a Docker config as JSON, secret; None if none is given.

    Raises SettingsError for a value that is not such a config, or not a secret. The error does not contain the value.
    """
    text = pulumi.runtime.config.CONFIG.get().get(REGISTRY_CREDENTIALS)
    if text is None:
        return None
    reasons = []
    if not pulumi.runtime.config.is_config_secret(REGISTRY_CREDENTIALS):
        reasons.append("must be a secret: set it with `pulumi config set --secret aks-infiniband:registryCredentials`")
    if not _logins(text):
        reasons.append(_SHAPE)
    elif _elsewhere(pulumi.runtime.config.CONFIG.get(), text):
        reasons.append(f"must log in to the host of {NAMESPACE}:registry.images, and log in to others only")
    if reasons:
        raise SettingsError(tuple(Mistake(key=REGISTRY_CREDENTIALS, reason=reason) for reason in reasons))
    return pulumi.Output.secret(text)


def _logins(text: str) -> list[str]:
    """The hosts that it logs in to; none if the kubelet would not take it in a kubernetes.io/dockerconfigjson."""
    try:
        config = opened(text)
    except HandwrittenError:
        return []
    auths = config.get("auths") if isinstance(config, dict) else None
    if not isinstance(auths, dict) or not all(map(_login, auths.values())):
        return []
    return [host.removeprefix("https://").removeprefix("http://").partition("/")[0] for host in auths]


def _login(login: object) -> bool:
    """Auth is user:password in Base64 (Kubernetes, credentialprovider/config.go)."""
    if not isinstance(login, dict):
        return False
    if not login.get("auth"):
        return bool(login.get("username") and login.get("password"))
    try:
        return b":" in base64.b64decode(login["auth"], validate=True)
    except (TypeError, ValueError):
        return False


def _elsewhere(configuration: Mapping[str, Any], text: str) -> bool:
    """True if the registry of images is on a host that these credentials do not log in to."""
    registry = plain_data(configuration.get(f"{NAMESPACE}:registry"))
    images = registry.get("images") if isinstance(registry, dict) else None
    hosts = _logins(text)
    if not isinstance(images, str) or not hosts:
        return False
    # The kubelet takes * for a part of a host's name.
    return not any(fnmatch(images.partition("/")[0], host) for host in hosts)
