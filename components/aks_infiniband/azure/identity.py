"""The identity with which a cluster acts in Azure, and its role on the subnets.

This program assigns the role if identity or subnets are new, because it cannot have been assigned before. If both
exist, the owner of the network has assigned it, or has to.

| identity | subnets | role |
|---|---|---|
| made here | made here | given |
| made here | existing | given; the user of `pulumi up` must be allowed to assign roles on the subnets |
| existing | made here | given; the identity must be in the stack's subscription, because the look-up is there |
| existing | existing | not touched |
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pulumi
from pulumi_azure_native import authorization, managedidentity

from aks_infiniband.azure.network import Place, Subnets

_NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
"""The built-in role (Azure, "Azure built-in roles"): AKS joins machines and load balancers to the subnet with it."""


@dataclass(frozen=True, kw_only=True)
class Identity:
    """The cluster's user-assigned identity."""

    id: pulumi.Input[str]
    """Azure's resource ID."""
    assignments: Sequence[pulumi.Resource]
    """For depends_on of the cluster: without its roles Azure refuses it."""


def make_identity(existing_id: str | None, subnets: Subnets, place: Place) -> Identity:
    """The existing identity, or one that is made, with its roles."""
    if existing_id is None:
        made = managedidentity.UserAssignedIdentity(
            place.name,
            resource_group_name=place.resource_group_name,
            location=place.location,
            resource_name_=f"{place.cluster_name}-identity",
            tags=dict(place.tags) or None,
            opts=place.opts,
        )
        return Identity(id=made.id, assignments=_assignments(made.principal_id, subnets, place))
    if subnets.ours:
        return Identity(id=existing_id, assignments=_assignments(_principal(existing_id, place), subnets, place))
    return Identity(id=existing_id, assignments=[])


def _principal(identity_id: str, place: Place) -> pulumi.Output[str]:
    parts = identity_id.split("/")
    principal: pulumi.Output[str] = managedidentity.get_user_assigned_identity_output(
        resource_group_name=parts[4], resource_name=parts[8], opts=pulumi.InvokeOutputOptions(parent=place.opts.parent)
    ).principal_id
    return principal


def _assignments(principal_id: pulumi.Output[str], subnets: Subnets, place: Place) -> list[pulumi.Resource]:
    made: list[pulumi.Resource] = [_assignment(place.name, principal_id, subnets.nodes, place.opts)]
    if subnets.pods is not None:
        made.append(_assignment(f"{place.name}-pods", principal_id, subnets.pods, place.opts))
    return made


def assignment_name(subnet_id: str, principal_id: str, role_id: str) -> str:
    """The name of the role assignment that gives an identity the role on a subnet."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{subnet_id}|{principal_id}|{role_id}"))


def _assignment(
    name: str, principal_id: pulumi.Output[str], subnet: pulumi.Input[str], opts: pulumi.ResourceOptions
) -> authorization.RoleAssignment:
    """The assignment's name follows from whom it gives what: a new identity gets a new one, never a conflict."""
    subnet_id = pulumi.Output.from_input(subnet)
    role = subnet_id.apply(
        lambda id_: (
            f"/subscriptions/{id_.split('/')[2]}/providers/Microsoft.Authorization/roleDefinitions/"
            f"{_NETWORK_CONTRIBUTOR}"
        )
    )
    return authorization.RoleAssignment(
        name,
        role_assignment_name=pulumi.Output.all(subnet_id, principal_id, role).apply(
            lambda facts: assignment_name(*facts)
        ),
        scope=subnet_id,
        role_definition_id=role,
        principal_id=principal_id,
        # Without the type Azure looks the new identity up in a directory that does not know it yet.
        principal_type=authorization.PrincipalType.SERVICE_PRINCIPAL,
        opts=opts,
    )
