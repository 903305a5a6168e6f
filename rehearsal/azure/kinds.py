"""A resource type of the simulated Azure: its names and checks, Azure's refusals, its actions.

One `Kind` per type; `rehearsal.azure.resources` holds the table of them. A kind is data and plain functions of the
subscription (`Cloud`) and a `Request`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_overloads

from pulumi import _types as pulumi_types

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.models import Failure
from rehearsal.azure.naming import AutoNaming, NameRule, path_parameters
from rehearsal.azure.store import Record


@dataclass(frozen=True, kw_only=True)
class Request:
    """A PUT: the resource's ID and the values in it, the inputs, and what is there already."""

    id: str
    path: Mapping[str, str]
    inputs: Mapping[str, Any]
    current: Record | None

    @property
    def name(self) -> str:
        """The resource's own name: the last part of its ID."""
        return self.id.rpartition("/")[2]


Refusal = Callable[[Cloud, Request], None]
"""Raises AzureError when Azure would refuse the request."""
Removal = Callable[[Cloud, Record], None]
"""Raises AzureError when Azure would refuse to delete the resource."""
Rendering = Callable[[Cloud, Request], dict[str, Any]]
"""The outputs that a read shows once Azure has accepted the request."""
Work = Callable[[Cloud, Record], None]
"""Azure's work once it has accepted the request: it takes its time and changes machines. A simulator that is restarted
runs it from the beginning.
"""


def nothing_refused(_cloud: Cloud, _subject: Any) -> None:
    """Azure refuses nothing more than what the models refuse."""


def resource_latency(cloud: Cloud, record: Record) -> None:
    """The few seconds that any resource takes."""
    assert record.operation
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("resource"))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One resource type.

    pulumi_type: its name for Pulumi; arguments, resource: azure-native's classes for inputs and outputs; path: in ARM;
    force_new: inputs whose change replaces it, in addition to those in the path; location: True if azure-native fills
    it in.
    """

    pulumi_type: str
    arguments: type
    resource: type
    arm_type: str
    path: str
    naming: AutoNaming
    name_rule: NameRule
    force_new: frozenset[str] = frozenset()
    location: bool = True
    check: Callable[[Mapping[str, Any]], list[Failure]] = lambda _inputs: []
    refuse_create: Refusal = nothing_refused
    refuse_update: Refusal = nothing_refused
    refuse_delete: Removal = nothing_refused
    render: Rendering
    updating: Callable[[Record], str] = lambda _record: "Updating"
    """The provisioning state while it is updated."""
    create: Work = resource_latency
    update: Work = resource_latency
    delete: Work = resource_latency

    @property
    def parameters(self) -> list[str]:
        """The inputs that are part of the path."""
        return [name for name in path_parameters(self.path) if name != "subscriptionId"]

    @property
    def asked_type(self) -> str:
        """The type as the path of a request writes it, and as a refusal names it then."""
        _, provider, names = self.path.rpartition("/providers/")
        return "/".join(part for part in names.split("/") if "{" not in part) if provider else self.arm_type

    @property
    def name_parameter(self) -> str:
        """The input that names the resource itself."""
        return self.parameters[-1]

    @property
    def input_names(self) -> frozenset[str]:
        """The properties that azure-native's class of arguments has."""
        return frozenset(pulumi_types.input_type_py_to_pulumi_names(self.arguments).values())

    @property
    def output_names(self) -> frozenset[str]:
        """The properties that azure-native's resource class has."""
        return frozenset(pulumi_types.resource_py_to_pulumi_names(self.resource).values())

    @property
    def api_version(self) -> str:
        """The API version azure-native uses, as its documentation states it."""
        [documentation, *_] = [overload.__doc__ or "" for overload in get_overloads(vars(self.resource)["__init__"])]
        return documentation.partition("Azure REST API version ")[2].split()[0].rstrip(".")

    def replacing(self) -> frozenset[str]:
        """Every input whose change replaces the resource."""
        return self.force_new | frozenset(self.parameters)
