"""User-assigned identities, and the roles they are given."""

import uuid
from typing import Any, Final

from pulumi_azure_native import authorization, managedidentity

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import not_found, refused
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.resources.groups import base_outputs, located, stamp
from rehearsal.azure.subscription import by_id


def _render_identity(cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(
        USER_ASSIGNED_IDENTITY.path, request, USER_ASSIGNED_IDENTITY.arm_type, USER_ASSIGNED_IDENTITY.api_version
    )
    before = request.current.outputs if request.current else {}
    return {
        "tags": {},
        **shown,
        "tenantId": cloud.subscription.tenant_id,
        "clientId": before.get("clientId") or str(uuid.uuid4()),
        "principalId": before.get("principalId") or str(uuid.uuid4()),
    }


def find_identity(cloud: Cloud, identity: str) -> dict[str, str] | None:
    """The clientId and principalId of an identity, those of others included; None when it does not exist."""
    existing = by_id(cloud.subscription.existing_identities, identity)
    if existing:
        return {"clientId": existing.client_id, "principalId": existing.principal_id}
    record = cloud.store.get(identity)
    if record is None or record.pulumi_type != USER_ASSIGNED_IDENTITY.pulumi_type:
        return None
    return {key: record.outputs[key] for key in ("clientId", "principalId")}


def _principal_type(cloud: Cloud, principal: str) -> str | None:
    """The kind of principal in the directory under an object ID; None without one."""
    if principal == cloud.subscription.client.object_id:
        return "User"
    if any(principal == known.principal_id for known in cloud.subscription.existing_identities.values()):
        return "ServicePrincipal"
    for record in cloud.store.all():
        identity = record.outputs.get("identity") or {}
        if (
            principal in (record.outputs.get("principalId"), identity.get("principalId"))
            and record.pulumi_type != _ASSIGNMENT
        ):
            return "ServicePrincipal"
        kubelet = (record.outputs.get("identityProfile") or {}).get("kubeletidentity") or {}
        if principal == kubelet.get("objectId"):
            return "ServicePrincipal"
    return None


def _is_somebody_elses(cloud: Cloud, resource: str) -> bool:
    """True if others made the resource of an ID, or its content (a resource group, a network)."""
    known = cloud.subscription
    ids = (*known.existing_subnets, *known.existing_identities, *known.capacity_reservation_groups, *known.snapshots)
    return any(f"{existing}/".casefold().startswith(f"{resource}/".casefold()) for existing in ids)


def _refuse_assignment(cloud: Cloud, request: Request) -> None:
    inputs, subscription = request.inputs, cloud.subscription
    scope = f"/{str(inputs['scope']).strip('/')}"
    if scope.count("/") > 2 and cloud.store.get(scope) is None and not _is_somebody_elses(cloud, scope):
        group = scope.split("/")[4] if scope.count("/") >= 4 else ""
        raise not_found("/".join(scope.split("/")[6:-1]) or "resourceGroups", naming.last_part(scope), group)
    role = naming.last_part(str(inputs["roleDefinitionId"])).lower()
    if role not in subscription.roles:
        raise refused("no-such-role", role=role)
    principal = str(inputs["principalId"])
    actual = _principal_type(cloud, principal)
    if actual is None:
        raise refused("no-such-principal", principal=principal.replace("-", ""), tenant_id=subscription.tenant_id)
    # The SDK fills in User when the program says nothing.
    if (stated := inputs.get("principalType", "User")) != actual:
        raise refused("another-principal-type", principal=principal.replace("-", ""), actual=actual, stated=stated)
    for other in cloud.store.all(_ASSIGNMENT):
        same = (other.outputs["principalId"], other.outputs["scope"].casefold()) == (principal, scope.casefold())
        if same and naming.last_part(other.outputs["roleDefinitionId"]) == role and other.id != request.id:
            raise refused("role-assignment-exists")


def _refuse_update(_cloud: Cloud, request: Request) -> None:
    assert request.current
    if dict(request.inputs) != request.current.inputs:
        raise refused("role-assignment-changes")


def _render_assignment(cloud: Cloud, request: Request) -> dict[str, Any]:
    role = naming.last_part(str(request.inputs["roleDefinitionId"])).lower()
    shown = base_outputs("", request, ROLE_ASSIGNMENT.arm_type, ROLE_ASSIGNMENT.api_version)
    shown.pop("roleAssignmentName", None)
    now = stamp()
    before = request.current.outputs if request.current else {}
    return {
        **shown,
        "scope": f"/{str(request.inputs['scope']).strip('/')}",
        "roleDefinitionId": (
            f"/subscriptions/{cloud.subscription.subscription_id}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        ),
        "createdOn": before.get("createdOn", now),
        "updatedOn": now,
        "createdBy": cloud.subscription.client.object_id,
        "updatedBy": cloud.subscription.client.object_id,
    }


_ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"

USER_ASSIGNED_IDENTITY: Final[Kind] = Kind(
    pulumi_type="azure-native:managedidentity:UserAssignedIdentity",
    arguments=managedidentity.UserAssignedIdentityArgs,
    resource=managedidentity.UserAssignedIdentity,
    arm_type="Microsoft.ManagedIdentity/userAssignedIdentities",
    path=(
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ManagedIdentity"
        "/userAssignedIdentities/{resourceName}"
    ),
    naming="random",
    name_rule=naming.IDENTITY,
    force_new=frozenset({"location"}),
    refuse_create=lambda cloud, request: located(cloud, request, USER_ASSIGNED_IDENTITY.arm_type),
    render=_render_identity,
)
ROLE_ASSIGNMENT: Final = Kind(
    pulumi_type=_ASSIGNMENT,
    arguments=authorization.RoleAssignmentArgs,
    resource=authorization.RoleAssignment,
    arm_type="Microsoft.Authorization/roleAssignments",
    path="/{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
    naming="uuid",
    name_rule=naming.ROLE_ASSIGNMENT,
    force_new=frozenset({"principalId", "scope"}),
    location=False,
    refuse_create=_refuse_assignment,
    refuse_update=_refuse_update,
    render=_render_assignment,
)
