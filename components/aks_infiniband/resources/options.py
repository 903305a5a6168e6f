"""Resource options that a component hands to what it creates."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pulumi
from pydantic import Field

from aks_infiniband.facts.bounds import PollSeconds, StableSeconds, TimeoutSeconds, keep_rules
from aks_infiniband.handwritten.section import Section
from aks_infiniband.resources.already_there import never_take_over

TIMEOUT_SECONDS: Final = 2700
"""Limit of a wait. Registering the feature takes about 10 minutes, a pool 6, the driver of a slow node 19, one after
the other (field reports, B5); the rest is reserve."""


class Waits(Section):
    """The program's limits for its waits on Azure and the operators, and its pauses between looks."""

    poll_seconds: PollSeconds = Field(default=10, strict=True)
    """Seconds between two looks."""
    stable_seconds: StableSeconds = Field(default=30, strict=True)
    """Seconds for which all nodes must offer their resources before they count as ready."""
    timeout_seconds: TimeoutSeconds = Field(default=TIMEOUT_SECONDS, strict=True)
    """Limit of every wait. The default has room for what happens one after the other: the feature is registered in
    about 10 minutes, a pool made in 6, and the driver of a slow node installed in 19 (field reports, B5)."""


@dataclass(frozen=True, kw_only=True)
class WaitArgs:
    """Arguments of every component that waits until something in the cluster is ready."""

    timeout_seconds: TimeoutSeconds = TIMEOUT_SECONDS
    """Limit until the component's objects are ready, from its creation."""
    kubeconfig: pulumi.Input[str] | None = None
    """With it a failed wait is explained; without it the engine's own message stands."""

    def __post_init__(self) -> None:
        """Raises ValueError for a number that is out of bounds."""
        keep_rules(self)


def child_options(parent: pulumi.Resource, opts: pulumi.ResourceOptions | None, **more: Any) -> pulumi.ResourceOptions:
    """Options of a component's child.

    The Python SDK gives a component's children its provider, transforms and aliases, but neither what the component
    waits for nor what it is deleted with; both are carried on here. An object that exists already in a cluster is not
    made.

    more: further resource options. depends_on is added to the component's, everything else replaces it.
    """
    inherited = pulumi.ResourceOptions(parent=parent, transformations=[never_take_over])
    if opts is not None:
        inherited = pulumi.ResourceOptions.merge(
            inherited, pulumi.ResourceOptions(depends_on=opts.depends_on, deleted_with=opts.deleted_with)
        )
    return pulumi.ResourceOptions.merge(inherited, pulumi.ResourceOptions(**more))


def timeout_annotation(args: WaitArgs) -> Mapping[str, str]:
    """The annotation with which the Kubernetes provider gives up a wait after the arguments' timeout."""
    return {"pulumi.com/timeoutSeconds": json.dumps(round(args.timeout_seconds))}


def wait_annotations(args: WaitArgs) -> Mapping[str, str]:
    """Annotations with which the Kubernetes provider waits until an object says `.status.state` ready."""
    return {"pulumi.com/waitFor": "jsonpath={.status.state}=ready", **timeout_annotation(args)}


def condition_annotations(args: WaitArgs, condition: str) -> Mapping[str, str]:
    """Annotations with which the Kubernetes provider waits until a condition of an object is true."""
    return {"pulumi.com/waitFor": f"condition={condition}", **timeout_annotation(args)}
