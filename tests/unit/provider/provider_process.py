"""The provider as the engine calls it, without a separate process."""

import json
from functools import cache
from typing import Any

import pulumi
from aks_infiniband.provider.host import Provider

from declared.pulumi_mocks import Deployment, Registration

_WHO_ASKS = {"sourcePosition", "stackTrace"}


@cache
def provider() -> Provider:
    """The provider is stateless, and reads its own sources to make its schema."""
    return Provider()


@cache
def _schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(provider().schema or "")
    return found


def resources() -> dict[str, Any]:
    """The components of the schema, by name."""
    return {token.rpartition(":")[2]: about for token, about in _schema()["resources"].items()}


def types() -> dict[str, Any]:
    """The types of the schema, by name."""
    return {token.rpartition(":")[2]: about for token, about in _schema()["types"].items()}


def construct(component: str, inputs: dict[str, Any]) -> dict[str, Any]:
    """The outputs of a component that the engine requests, under the name `rdma`."""
    made = provider().construct("rdma", f"aks-infiniband:index:{component}", inputs, pulumi.ResourceOptions())
    return dict(made.state)


def declared(deployment: Deployment) -> dict[str, Any]:
    """By URN, all requests to the engine, except for the lines of the program that sent them."""
    return {made.urn: _asked(made) for made in deployment.registrations}


def _asked(made: Registration) -> dict[str, Any]:
    """The dependencies of a resource are unordered."""
    by_property = made.request.get("propertyDependencies", {}).items()
    return {
        **{key: value for key, value in made.request.items() if key not in _WHO_ASKS},
        "dependencies": made.dependencies,
        "propertyDependencies": {name: set(found.get("urns", [])) for name, found in by_property},
    }
