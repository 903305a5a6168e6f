"""AKS's resource provider, registered again before an InfiniBand pool is made.

AKS goes by a preview feature as it was when the provider was last registered: `az feature register` says that `az
provider register` "is required to get the change propagated" (azure-cli, read 2026-11-22). Registering is a POST, which
neither a template nor azure-native makes (Azure/bicep issue 3267, pulumi-azure-native issue 1075).
"""

import asyncio
import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import httpx2
import pulumi
from pulumi_azure_native import authorization

from aks_infiniband.azure.feature import PROVIDER_NAMESPACE

_VERSION: Final = {"api-version": "2021-04-01"}
"""Of Microsoft.Resources, assumed: nothing was sent to Azure."""
_TIMEOUT_SECONDS: Final = 60.0
_SHOWN_CHARACTERS: Final = 1000
"""Of an answer: Azure's own are shorter, but a proxy on the way may answer with a page."""
_PAUSES: Final = (0.0, 5.0, 20.0)
"""Seconds before each try. What may pass is tried again: throttling, Azure's own errors, the network."""
_THREADS: Final = 1024
"""More than registrations ever wait at once. Threads are made as they are needed."""


def provider_registration(name: str, parent: pulumi.Resource) -> pulumi.ResourceHook:
    """The hook that registers the provider, for `before_create`.

    name: unique among the program's hooks.
    parent: whose provider says which login, subscription and cloud.

    A refusal is a warning and no error: somebody else may have registered the provider, and whoever runs this need not
    be allowed to. The validation fails where the machines of a pool do not share a fabric.
    """

    async def register(args: pulumi.ResourceHookArgs) -> None:
        # Pulumi asks the engine through its loop's threads, as many as `up` has --parallel, and every resource that is
        # being made holds one: pools that wait for this hook could hold them all (pulumi 3.272, runtime/resource.py).
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
        options = pulumi.InvokeOptions(parent=parent)
        subscription = authorization.get_client_config(opts=options).subscription_id
        token = authorization.get_client_token(opts=options).token
        what = f"{args.name}: {PROVIDER_NAMESPACE} of subscription {subscription}"
        for pause in _PAUSES:
            await asyncio.sleep(pause)
            refusal, passes = await _post(f"/subscriptions/{subscription}/providers/{PROVIDER_NAMESPACE}", token)
            if not passes:
                break
        if not refusal:
            return pulumi.log.info(f"{what} is registered again, so that AKS knows its features")
        return pulumi.log.warn(
            f"{what} could not be registered again: {refusal}\nIf nobody has done so since the feature was registered, "
            "AKS does not know of it, and puts the pool's machines on different fabrics. By hand: "
            f"az provider register --subscription {subscription} --namespace {PROVIDER_NAMESPACE}"
        )

    return pulumi.ResourceHook(name, register)


async def _post(provider: str, token: str) -> tuple[str, bool]:
    """What went wrong, empty where nothing did, and whether that may pass by itself."""
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

    Raises ValueError, LookupError or TypeError for what is no such token.
    """
    audience = str(json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))["aud"]).rstrip("/")
    address = httpx2.URL(audience)
    if address.scheme != "https" and address.host != "127.0.0.1":  # where a rehearsal's answers
        raise ValueError(f"the login's token is for {audience}, and goes to no address without https")
    # The older name of the same (azure-identity, _internal/interactive.py, _DEFAULT_AUTHENTICATE_SCOPES).
    return audience.replace(".core.windows.net", ".azure.com").replace("management.core.", "management.")
