"""A check that the roles of the current login permit the program's operations."""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final

from aks_infiniband.terminal import page

from aks_infiniband_cli.azure.answers import Permission, Role
from aks_infiniband_cli.preflight.checks import Line
from aks_infiniband_cli.preflight.needs import Needs
from aks_infiniband_cli.preflight.rights import LATER

_ALWAYS: Final = (
    "Microsoft.Resources/subscriptions/resourceGroups/write",
    "Microsoft.ContainerService/managedClusters/write",
    "Microsoft.ContainerService/managedClusters/agentPools/write",
)
_FEATURE: Final = (
    "Microsoft.Resources/deployments/write",
    "Microsoft.Features/featureProviders/subscriptionFeatureRegistrations/write",
)
_NETWORK: Final = "Microsoft.Network/virtualNetworks/write"
_IDENTITY: Final = "Microsoft.ManagedIdentity/userAssignedIdentities/write"
_ALERTS: Final = "Microsoft.AlertsManagement/prometheusRuleGroups/write"
_ASSIGNMENT: Final = "Microsoft.Authorization/roleAssignments/write"
"""Azure's names of the operations (Azure, "Azure permissions", read 2026-11-22), for what
components/aks_infiniband makes."""


def roles(needs: Needs, granted: Sequence[Role], subscription_id: str) -> Line:
    """Check that every operation is permitted on the whole subscription. granted: the caller's roles there."""
    missing = [action for action in _actions(needs) if not _any_permits(granted, action)]
    names = ", ".join(sorted({role.name for role in granted})) or "none"
    if not missing:
        return Line(check="roles", state="pass", found=f"{names} permit what the program does")
    scope = f"--assignee <you> --scope /subscriptions/{subscription_id}"
    wanted = [] if missing == [_ASSIGNMENT] else ["Contributor"]
    wanted += ["Role Based Access Control Administrator"] if _ASSIGNMENT in missing else []
    remedy = "; ".join(f"az role assignment create {scope} --role '{role}'" for role in wanted)
    found = f"your roles on the subscription ({names}) do not permit {', '.join(missing)}"
    return Line(
        check="roles", state="fail", found=found, remedy=f"an owner of the subscription can assign them: {remedy}"
    )


def later(granted: Sequence[Role], subscription_id: str) -> Line | None:
    """The operations of later commands that the roles on the subscription forbid; None if they permit all.

    A role on a resource group or on the cluster may still permit it.
    """
    missing = {
        command: [action for actions in rights.values() for action in actions if not _any_permits(granted, action)]
        for command, rights in LATER.items()
    }
    if not any(missing.values()):
        return None
    told = "; ".join(f"{command}: {', '.join(actions)}" for command, actions in missing.items() if actions)
    found = f"your roles on the subscription do not permit all requests of these commands to Azure: {told}"
    remedy = (
        f"a role that permits it, on /subscriptions/{subscription_id} or below ({page('replace')}, {page('upgrade')})"
    )
    return Line(check="roles of later commands", state="not checked", found=found, remedy=remedy)


def _any_permits(granted: Sequence[Role], action: str) -> bool:
    return any(permitted(role.permissions, action) for role in granted)


def _actions(needs: Needs) -> Iterator[str]:
    yield from _ALWAYS
    if needs.feature:
        yield from _FEATURE
    if needs.network is not None:
        yield _NETWORK
    if needs.alerts:
        yield _ALERTS
    if needs.new_identity:
        yield _IDENTITY
    if needs.new_identity or needs.network is not None:
        yield _ASSIGNMENT


def permitted(permissions: Iterable[Permission], action: str) -> bool:
    """True if one of the permissions names the action, and none of its exceptions; Azure compares without case."""

    def named(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)

    return any(named(each.actions) and not named(each.exceptions) for each in permissions)
