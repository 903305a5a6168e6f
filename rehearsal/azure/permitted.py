"""A check that the roles of a caller permit a request: of every read, too, as of the status of an operation."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from rehearsal.azure.errors import refused
from rehearsal.azure.subscription import Client

PERMISSIONS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    "Owner": {"actions": ["*"], "notActions": []},
    "Contributor": {
        "actions": ["*"],
        "notActions": ["Microsoft.Authorization/*/Write", "Microsoft.Authorization/*/Delete"],
    },
    "Role Based Access Control Administrator": {
        "actions": ["Microsoft.Authorization/roleAssignments/*", "*/read"],
        "notActions": [],
    },
}
"""Permissions of built-in roles, in part (Azure, "Azure built-in roles", read 2026-11-22); all others permit to
read.
"""
READS: Final[Mapping[str, Sequence[str]]] = {"actions": ["*/read"], "notActions": []}
_VERBS: Final = {"GET": "read", "PUT": "write", "POST": "action"}
_OF_SUBSCRIPTIONS: Final = "Microsoft.Resources/subscriptions"


def require(client: Client, method: str, path: str) -> None:
    """Raises AzureError for a request that the caller's roles do not permit. path: without the query."""
    action = operation_of(method, path)
    if any(_permits(role, action) for role in roles_of(client)):
        return
    raise refused("not-permitted", client=client.client_id, object=client.object_id, action=action, scope=path)


def roles_of(client: Client) -> Iterable[Mapping[str, Sequence[str]]]:
    """The permissions of each role of a caller."""
    yield {"actions": client.actions, "notActions": []}
    yield from (PERMISSIONS.get(name, READS) for name in client.roles)


def _permits(role: Mapping[str, Sequence[str]], action: str) -> bool:
    def named(patterns: Sequence[str]) -> bool:
        return any(fnmatchcase(action.lower(), pattern.lower()) for pattern in patterns)

    return named(role["actions"]) and not named(role["notActions"])


def operation_of(method: str, path: str) -> str:
    """Azure's name of what a request does, such as Microsoft.Compute/locations/operations/read.

    Types and names alternate in a path. The part after the last name is a list that is read, or an action that is
    taken.
    """
    parts: list[Any] = path.strip("/").split("/")
    places = [at for at, part in enumerate(parts) if part.lower() == "providers" and at + 1 < len(parts)]
    if not places:
        below = ["/".join(parts[2::2])] if len(parts) > 2 else []
        return "/".join([_OF_SUBSCRIPTIONS, *below, _VERBS[method]])
    # A feature's path names a second provider, which is the feature's own.
    at = next((at for at in places if parts[at + 1].lower() == "microsoft.features"), places[-1])
    namespace, *rest = parts[at + 1 :]
    return "/".join([namespace, *rest[::2], _VERBS[method]])
