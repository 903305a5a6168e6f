"""The process that the engine starts for a program in another language: it gives the schema, and makes components."""

import json
import sys
from importlib.metadata import version
from typing import Any, Final

import pulumi
from pulumi.errors import InputPropertiesError
from pulumi.provider import ConstructResult, main
from pulumi.provider.experimental.component import ComponentProvider
from pulumi.provider.server import ComponentInitError

from aks_infiniband.provider.inputs import told_by_a_resource
from aks_infiniband.provider.machines import FeatureRegistration, InfinibandNodePool
from aks_infiniband.provider.software import (
    GpuOperator,
    NetworkOperator,
    NicClusterPolicy,
    Validation,
    WorkloadSettings,
)
from aks_infiniband.provider.whole import RdmaCluster

PACKAGE: Final = "aks-infiniband"
"""Of the schema and of every component's token, and so of every resource in a state."""
COMPONENTS: Final[list[type[pulumi.ComponentResource]]] = [
    RdmaCluster,
    FeatureRegistration,
    InfinibandNodePool,
    NetworkOperator,
    NicClusterPolicy,
    GpuOperator,
    WorkloadSettings,
    Validation,
]


class Provider(ComponentProvider):
    """The components as the engine asks for them. A mistake in an input is told in words, without a traceback."""

    def __init__(self) -> None:
        super().__init__(COMPONENTS, PACKAGE, version=version(PACKAGE))
        self._plain_inputs = {
            token: frozenset(key for key, about in resource["inputProperties"].items() if about.get("plain"))
            for token, resource in json.loads(self.schema or "{}")["resources"].items()
        }
        """By token, the inputs that decide what is made, so that they must be known at once."""

    def construct(
        self, name: str, resource_type: str, inputs: Any, options: pulumi.ResourceOptions | None = None
    ) -> ConstructResult:
        """Make a component. Raises InputPropertiesError for inputs that it refuses."""
        known = self._plain_inputs.get(resource_type, frozenset())
        if wrong := sorted(key for key in known & inputs.keys() if told_by_a_resource(inputs[key])):
            reason = "comes from another resource, or is a secret; must be written in the program"
            raise InputPropertiesError(name, [{"property_path": key, "reason": reason} for key in wrong])
        try:
            return super().construct(name, resource_type, inputs, options)
        except ComponentInitError as error:
            if isinstance(error.inner, ValueError | pulumi.RunError):
                raise InputPropertiesError(f"{name}: {error.inner}", []) from error
            raise


def serve() -> None:
    """Answer the engine until it ends. Its address is among the process's arguments."""
    main(Provider(), sys.argv[1:])
