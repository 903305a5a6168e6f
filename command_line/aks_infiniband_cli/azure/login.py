"""The login to Azure, its cloud and its subscription; in a rehearsal's shell those of the rehearsal."""

import logging
import os
from collections.abc import Mapping
from typing import Any, Final

from azure.core import AzureClouds
from azure.core.credentials import TokenCredential
from azure.identity import ClientSecretCredential, DefaultAzureCredential
from azure.mgmt.core.tools import get_arm_endpoints

from aks_infiniband_cli.azure.rehearsed import rehearsed
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.stack_file import subscription_of

_CLOUD: Final = ("azure-native:environment", "ARM_ENVIRONMENT")
"""The names of the cloud for Pulumi: configuration, or else the environment."""
_CLOUDS: Final = {
    "public": AzureClouds.AZURE_PUBLIC_CLOUD,
    "usgovernment": AzureClouds.AZURE_US_GOVERNMENT,
    "china": AzureClouds.AZURE_CHINA_CLOUD,
}
"""By Pulumi's names (pulumi-azure-native 3.12.0, config/vars.d.ts, read 2026-11-22)."""
_PRINCIPAL: Final = ("ARM_TENANT_ID", "ARM_CLIENT_ID", "ARM_CLIENT_SECRET")


def login() -> TokenCredential:
    """The user that Pulumi's variables of a service principal, `az login`, environment or managed identity name.

    In a rehearsal's shell it is the rehearsal's client.

    The login is never interactive. If no user is logged in, the command says so in its own words, not in fifteen lines
    of a log.
    """
    if (simulated := rehearsed()) is not None:
        return simulated
    logging.getLogger("azure.identity").setLevel(logging.ERROR)
    if all(map(os.environ.get, _PRINCIPAL)):
        return ClientSecretCredential(*(os.environ[name] for name in _PRINCIPAL))
    return DefaultAzureCredential(exclude_interactive_browser_credential=True)


def endpoint_of(configuration: Mapping[str, Any]) -> str:
    """The URL of Azure Resource Manager in the stack's cloud. Raises CommandError for a cloud that is not known.

    In a rehearsal's shell it is the rehearsal's.
    """
    if (simulated := rehearsed()) is not None:
        return simulated.endpoint
    configured, variable = _CLOUD
    cloud = str(configuration.get(configured) or os.environ.get(variable) or "public").lower()
    if cloud not in _CLOUDS:
        raise CommandError(f"{configured} is {cloud!r}, and known are {', '.join(_CLOUDS)}: say --endpoint")
    return str(get_arm_endpoints(_CLOUDS[cloud])["resource_manager"]).rstrip("/")


def chosen_subscription(given: str | None, configuration: Mapping[str, Any]) -> str:
    """The ID of the subscription, as `subscription_of` finds it; in a rehearsal's shell it is the rehearsal's."""
    simulated = rehearsed()
    return subscription_of(given or (simulated.subscription if simulated else None), configuration)
