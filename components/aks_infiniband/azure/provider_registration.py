"""AKS's resource provider, registered again once a subscription, before its InfiniBand pools are made.

AKS goes by a preview feature as it was when the provider was last registered: `az feature register` says that `az
provider register` "is required to get the change propagated" (azure-cli, read 2026-11-22). Registering is a POST, which
neither a template nor azure-native makes (Azure/bicep issue 3267, pulumi-azure-native issue 1075).
"""

import asyncio
import base64
import json
from dataclasses import dataclass, field
from typing import Final

import httpx2
import pulumi

from aks_infiniband.azure.asking import ask
from aks_infiniband.resources.options import child_options

PROVIDER_NAMESPACE: Final = "Microsoft.ContainerService"
_VERSION: Final = {"api-version": "2021-04-01"}
"""Version of Microsoft.Resources, assumed: nothing was sent to Azure."""
_TIMEOUT_SECONDS: Final = 60.0
_SHOWN_CHARACTERS: Final = 1000
"""Length of an answer: Azure's own are shorter, but a proxy on the way may answer with a page."""
_PAUSES: Final = (0.0, 5.0, 20.0)
"""Seconds before each try. A failure that may pass is tried again: throttling, Azure's own errors, the network."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Login:
    """Azure-native's login, read before the engine is: a hook must not call (`asking.ask`)."""

    subscription: str
    token: str = field(repr=False)
    failure: str
    """The reason why the token is absent; empty if there is one."""


def provider_registration(
    parent: pulumi.Resource, name: str, *, told: pulumi.Output[str], opts: pulumi.ResourceOptions | None
) -> pulumi.Output[pulumi.Resource]:
    """The resource that InfiniBand pools wait for: the provider, registered again once AKS can learn the new state.

    The registration is a resource in the state, so it happens once and not in each run. Pools wait for it outside of
    the engine, without holding a thread.

    parent: its component, whose provider says which login and cloud. told: known once it is true. told: another text
    whenever AKS must read the state again; it begins with the subscription, as Azure's resource IDs do. opts: the
    component's.

    A refusal is a warning and not an error: the provider may have been registered by others, and the user who runs this
    need not be allowed to. The validation fails if the machines of a pool do not share a fabric.
    """
    logins: list[_Login] = []

    async def log_in(what: str) -> str:
        if not pulumi.runtime.is_dry_run():
            logins.append(await _log_in(parent, subscription=what.split("/")[2]))
        return what

    async def register(_: pulumi.ResourceHookArgs) -> None:
        await _register(logins[-1])

    asked: pulumi.Output[str] = told.apply(log_in)
    hook = pulumi.ResourceHook(f"{name}-provider-registration", register)
    kept = pulumi.Stash(
        f"{name}-provider-registration",
        input={"told": asked},
        opts=child_options(parent, opts, hooks=pulumi.ResourceHookBinding(before_create=[hook], before_update=[hook])),
    )
    there: pulumi.Resource = kept
    return kept.id.apply(lambda _: there)


async def _log_in(parent: pulumi.Resource, *, subscription: str) -> _Login:
    try:
        token = (await ask("authorization:getClientToken", parent))["token"]
    except Exception as error:  # whatever it is, it ends in a warning
        return _Login(subscription=subscription, token="", failure=f"{type(error).__name__}: {error}")
    return _Login(subscription=subscription, token=str(token), failure="")


async def _register(login: _Login) -> None:
    what = f"{PROVIDER_NAMESPACE} of subscription {login.subscription}"
    refusal = login.failure or await _refusal(login)
    if not refusal:
        return pulumi.log.info(f"{what} is registered again, so that AKS knows its features")
    return pulumi.log.warn(
        f"{what} could not be registered again: {refusal}\nIf this was not done since the feature was registered, "
        "AKS does not know of it, and puts a pool's machines on different fabrics. By hand: "
        f"az provider register --subscription {login.subscription} --namespace {PROVIDER_NAMESPACE}"
    )


async def _refusal(login: _Login) -> str:
    refusal = ""
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        provider = f"/subscriptions/{login.subscription}/providers/{PROVIDER_NAMESPACE}"
        refusal, passes = await _post(provider, login.token)
        if not passes:
            break
    return refusal


async def _post(provider: str, token: str) -> tuple[str, bool]:
    """The failure, empty if there is none, and True if that may pass by itself."""
    try:
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(base_url=resource_manager(token), timeout=_TIMEOUT_SECONDS) as client:
            answer = await client.post(f"{provider}/register", params=_VERSION, headers=headers)
    except (httpx2.TransportError, httpx2.InvalidURL, ValueError, LookupError, TypeError) as error:
        return f"{type(error).__name__}: {error}", isinstance(error, httpx2.TransportError)
    passes = answer.is_server_error or answer.status_code == httpx2.codes.TOO_MANY_REQUESTS
    return "" if answer.is_success else f"{answer.status_code} {answer.text[:_SHOWN_CHARACTERS]}", passes


def resource_manager(token: str) -> str:
    """The address of the Azure Resource Manager that takes a token: its audience, which follows azure-native's cloud.

    Raises ValueError, LookupError or TypeError for text that is not such a token.
    """
    audience = str(json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["aud"]).rstrip("/")
    address = httpx2.URL(audience)
    if address.scheme != "https" and address.host != "127.0.0.1":  # the address of a rehearsal's answers
        raise ValueError(f"the login's token is for {audience}, and goes to no address without https")
    # The older name of the same (azure-identity, _internal/interactive.py, _DEFAULT_AUTHENTICATE_SCOPES).
    return audience.replace(".core.windows.net", ".azure.com").replace("management.core.", "management.")
