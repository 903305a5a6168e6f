"""The configuration of the stack that runs, and the one secret in it."""

import json
from typing import Any, Final

import pulumi
import pulumi.runtime.config

from aks_infiniband.stack.settings.mistakes import NAMESPACE, Mistake, SettingsError

REGISTRY_CREDENTIALS: Final = f"{NAMESPACE}:registryCredentials"
_HOLDS_SECURE: Final = (
    "holds a secret (secure:), which would end readable in the stack's state; set it without --secret, and where a "
    "chart needs a secret, put that in a Kubernetes Secret and its name in the Helm values"
)
_SHAPE: Final = (
    'must be the JSON of a Docker config that logs in to at least one registry: {"auths": {"HOST": {"auth": "…"}}}, '
    "where auth is user:password in Base64; or username and password in its place"
)


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
    """What logs in to the registry of images: a Docker config as JSON, secret; None where none is given.

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
    return isinstance(auths, dict) and bool(auths) and all(_login(login) for login in auths.values())


def _login(login: object) -> bool:
    return isinstance(login, dict) and bool(login.get("auth") or (login.get("username") and login.get("password")))
