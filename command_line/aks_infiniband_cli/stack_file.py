"""A stack file as the program reads it, and the subscription that it is for."""

import os
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, Final

from aks_infiniband.handwritten import HandwrittenError, read
from aks_infiniband.stack.load import load
from aks_infiniband.stack.stack import Stack

from aks_infiniband_cli.console import CommandError

_VARIABLES: Final = ("ARM_SUBSCRIPTION_ID", "AZURE_SUBSCRIPTION_ID")
SUBSCRIPTION: Final = "azure-native:subscriptionId"
"""The key that names it in a stack file."""
_CLUSTER: Final = "aks-infiniband:cluster"


def configuration_of(file: Path) -> Mapping[str, Any]:
    """What a stack file configures, by key with namespace. Raises CommandError for what is no stack file."""
    try:
        found = read(file) or {}
    except HandwrittenError as error:
        raise CommandError(f"{file}: {error}") from error
    configuration = found.get("config") or {} if isinstance(found, dict) else None
    if not isinstance(configuration, dict):
        raise CommandError(f"{file}: is no stack file")
    return configuration


def stack_of(file: Path, configuration: Mapping[str, Any]) -> Stack:
    """The stack that the program's own loader makes of a file's configuration. Raises SettingsError as that does."""
    with chdir(file.parent):  # files that it names are relative to it, as for the engine
        return load(_named(configuration, file.name))


def _named(configuration: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """With the cluster's default name, after project and stack, which the program asks the engine for."""
    project, cluster = Path("Pulumi.yaml"), configuration.get(_CLUSTER)
    if not isinstance(cluster, dict) or cluster.get("name") or not project.is_file():
        return configuration
    stack = file.removeprefix("Pulumi.").removesuffix(".yaml")
    return {**configuration, _CLUSTER: {**cluster, "name": f"{read(project)['name']}-{stack}"}}


def subscription_of(given: str | None, configuration: Mapping[str, Any]) -> str:
    """The ID of the subscription: as given, of the stack, or of the environment. Raises CommandError without one."""
    named = next((os.environ[name] for name in _VARIABLES if os.environ.get(name)), None)
    found = given or configuration.get(SUBSCRIPTION) or named
    if not found:
        raise CommandError(
            f"which subscription? Say --subscription, ${_VARIABLES[0]} or {SUBSCRIPTION}: `az account show --query id`"
        )
    return str(found)
