"""Resource options that a component hands to what it creates."""

import json
from collections.abc import Mapping
from typing import Any

import pulumi


def child_options(parent: pulumi.Resource, opts: pulumi.ResourceOptions | None, **more: Any) -> pulumi.ResourceOptions:
    """Options of a component's child.

    The Python SDK gives a component's children its provider, transforms and aliases, but neither what the component
    waits for nor what it is deleted with; both are carried on here.

    more: further resource options. depends_on is added to the component's, everything else replaces it.
    """
    inherited = pulumi.ResourceOptions(parent=parent)
    if opts is not None:
        inherited = pulumi.ResourceOptions.merge(
            inherited, pulumi.ResourceOptions(depends_on=opts.depends_on, deleted_with=opts.deleted_with)
        )
    return pulumi.ResourceOptions.merge(inherited, pulumi.ResourceOptions(**more))


def wait_annotations(condition: str, timeout_seconds: float) -> Mapping[str, str]:
    """Annotations with which the Kubernetes provider waits for an object.

    condition: what `pulumi.com/waitFor` takes, such as jsonpath={.status.state}=ready.
    timeout_seconds: after so long the wait has failed.
    """
    return {"pulumi.com/waitFor": condition, "pulumi.com/timeoutSeconds": json.dumps(round(timeout_seconds))}
