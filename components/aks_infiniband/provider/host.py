"""The process that the engine starts for a program in another language: it gives the schema, and makes components."""

import asyncio
import json
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import version
from typing import Any, Final

import pulumi
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

from aks_infiniband.provider import amd, cluster, door, hosts, machines, operators, policies, watching, whole, workloads
from aks_infiniband.provider.descriptions import describe
from aks_infiniband.provider.refusals import refusals
from aks_infiniband.resources.already_there import HOOK_NAMES

PACKAGE: Final = "aks-infiniband"
"""Prefix of the schema and of every component's token, and so of every resource in a state."""
COMPONENTS: Final[list[type[pulumi.ComponentResource]]] = [
    whole.RdmaCluster,
    cluster.AksCluster,
    machines.FeatureRegistration,
    machines.FeatureAbsence,
    machines.InfinibandNodePool,
    machines.OrdinaryNodePool,
    operators.NetworkOperator,
    policies.NicClusterPolicy,
    policies.NicNodePolicy,
    policies.IpoibNetwork,
    operators.GpuOperator,
    operators.ExistingGpuOperator,
    policies.ExistingNetworkOperator,
    operators.DraDriver,
    amd.CertManager,
    amd.AmdGpuOperator,
    amd.DeviceConfig,
    hosts.NodePreparation,
    hosts.Dranet,
    hosts.PeermemLoader,
    hosts.ToolkitHardening,
    workloads.WorkloadSettings,
    workloads.WorkloadGuard,
    workloads.PoolTopology,
    workloads.RegistryCredentials,
    watching.Validation,
    watching.LightCheck,
    watching.Observability,
]


class Provider(ComponentProvider):
    """The components as the engine requests them. A mistake in an input is reported in words, without a traceback."""

    def __init__(self) -> None:
        super().__init__(COMPONENTS, PACKAGE, version=version(PACKAGE))
        self._described = describe(json.loads(self.schema or ""), COMPONENTS)
        self.schema = json.dumps(self._described)

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Make a component. Raises InputPropertiesError for inputs that it refuses."""
        if wrong := sorted(refusals(self._described, resource_type, inputs)):
            raise InputPropertiesError(name, [{"property_path": path, "reason": reason} for path, reason in wrong])
        try:
            return super().construct(name, resource_type, _whole_numbers(inputs), options)
        except ComponentInitError as error:
            if isinstance(error.inner, ValueError | pulumi.RunError):
                raise InputPropertiesError(f"{name}: {error.inner}", []) from error
            raise


def _whole_numbers(value: Any) -> Any:
    """A document with its whole numbers as int: the engine hands every number over as a float."""
    if isinstance(value, Mapping):
        return {key: _whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def serve() -> None:
    """Answer the engine until it ends. Its address is the process's argument; the others are the engine's for logs."""
    HOOK_NAMES.numbered = True
    engine = next(argument for argument in sys.argv[1:] if not argument.startswith("-"))
    with suppress(KeyboardInterrupt):
        asyncio.run(door.serve(Provider(), sys.argv[1:], engine))
