"""A stack file as the program reads it, and the subscription that it is for."""

import os
import re
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Annotated, Any, Final

from aks_infiniband.handwritten import read, shortened
from aks_infiniband.handwritten.form import Form, formed
from aks_infiniband.stack.load import REGISTRY_CREDENTIALS, load
from aks_infiniband.stack.stack import Stack
from pydantic import Field

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.documents import named

_VARIABLES: Final = ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID")
SUBSCRIPTION: Final = "azure-native:subscriptionId"
"""The key that names it in a stack file."""
_GUID: Final = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_EXAMPLE: Final = "01234567-89ab-cdef-0123-456789abcdef: `az account show --query id`"
_CLUSTER: Final = "aks-infiniband:cluster"


def configuration_of(file: Path) -> Mapping[str, Any]:
    """The configuration in a stack file, by key with namespace. Raises CommandError for a document that is not a stack
    file.
    """
    with named(file):
        document = read(file) or {}
    configuration = document.get("config") if isinstance(document, dict) else document
    if not configuration:
        raise CommandError(
            f"{file} does not have a configuration: a stack file has `config:`, `aks-infiniband init` writes one"
        )
    if not isinstance(configuration, dict):
        raise CommandError(f"{file} is not a stack file: config must be a mapping, key: value")
    return configuration


def stack_of(file: Path, configuration: Mapping[str, Any]) -> Stack:
    """The stack that the program's own loader makes of a file's configuration. Raises SettingsError as that does.

    Its registry credentials are the encrypted ones of the file: commands only name the Secret that holds them.
    """
    settings, encrypted = {**_named(configuration, file.name)}, None
    if isinstance(held := settings.get(REGISTRY_CREDENTIALS), dict) and set(held) == {"secure"}:
        encrypted = settings.pop(REGISTRY_CREDENTIALS)["secure"]
    with chdir(file.parent):  # files that it names are relative to it, as for the engine
        return load(settings, credentials=encrypted)


class _Project(Form):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


def _named(configuration: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """With the cluster's default name, after project and stack, which the program reads from the engine.

    Raises CommandError for a project file that is none.
    """
    project, cluster = Path("Pulumi.yaml"), configuration.get(_CLUSTER)
    if not isinstance(cluster, dict) or cluster.get("name") or not project.is_file():
        return configuration
    stack = file.removeprefix("Pulumi.").removesuffix(".yaml")
    with named(project.absolute()):
        name = formed(_Project, read(project)).name
    return {**configuration, _CLUSTER: {**cluster, "name": f"{name}-{stack}"}}


def subscription_of(given: str | None, configuration: Mapping[str, Any]) -> str:
    """The ID of the subscription: as given, of the stack, or of the environment. Raises CommandError without one."""
    variable = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), None)
    configured = configuration.get(SUBSCRIPTION)
    subscription = given or configured or variable
    if not subscription:
        raise CommandError(
            f"which subscription? Say --subscription, ${_VARIABLES[0]} or {SUBSCRIPTION}: `az account show --query id`"
        )
    if not re.fullmatch(_GUID, str(subscription)):
        source = "--subscription" if given else SUBSCRIPTION if configured else "the environment"
        raise CommandError(
            f"{source} names subscription {shortened(subscription)}; it must be an ID such as {_EXAMPLE}"
        )
    return str(subscription)
