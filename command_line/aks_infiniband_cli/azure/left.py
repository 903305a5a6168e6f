"""Reads the leftovers of a stack in Azure, through its maintained clients."""

from collections.abc import Sequence
from typing import Final

from aks_infiniband_cli.azure.answers import Assignment, Group
from aks_infiniband_cli.azure.clients import Clients

_IDENTITY: Final = "Microsoft.ManagedIdentity/userAssignedIdentities"
_IDENTITY_VERSION: Final = "2023-01-31"
"""Version of the API of managed identities, whose answer names the principal; azure-native 3 uses this one, too
(Microsoft Learn, API version change log of userAssignedIdentities, read 2026-11-22).
"""


class Azure:
    """One subscription. Methods raise AzureError."""

    def __init__(self, clients: Clients) -> None:
        self._resources, self._authorization = clients.resources, clients.authorization

    def groups(self) -> Sequence[Group]:
        """The subscription's resource groups, without what is in them."""
        listed = self._resources.resource_groups.list()
        return [Group(name=str(group.name), managed_by=str(group.managed_by or "")) for group in listed]

    def filled(self, group: Group) -> Group:
        """A resource group with what is in it."""
        listed = self._resources.resources.list_by_resource_group(group.name)
        ids = tuple(str(resource.id) for resource in listed)
        return Group(name=group.name, managed_by=group.managed_by, resources=ids)

    def assignments(self, subnet_id: str) -> Sequence[Assignment]:
        """The role assignments on a subnet itself."""
        listed = self._authorization.role_assignments.list_for_scope(subnet_id, filter="atScope()")
        return [
            Assignment(
                id=str(assignment.id),
                name=str(assignment.name),
                scope=subnet_id,
                principal=str(assignment.principal_id),
                role=str(assignment.role_definition_id),
            )
            for assignment in listed
            if str(assignment.scope).lower() == subnet_id.lower()
        ]

    def principals(self) -> frozenset[str]:
        """The principals of the subscription's user-assigned identities."""
        listed = self._resources.resources.list(filter=f"resourceType eq '{_IDENTITY}'")
        identities = [
            self._resources.resources.get_by_id(str(each.id), api_version=_IDENTITY_VERSION) for each in listed
        ]
        return frozenset(str(identity.properties["principalId"]) for identity in identities if identity.properties)
