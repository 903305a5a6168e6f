"""The wait for policies of an operator that others keep."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pulumi

from aks_infiniband.access.looking import within_limit

Policy = Mapping[str, Any]
"""A custom resource that configures an operator, and whose status reports the progress."""
LOOK_SECONDS: Final = 30.0


class PolicyError(pulumi.RunError):
    """An operator of others that does not suit the pools, or is not ready; the text says why, and what to do."""


async def ready(
    read: Callable[[], Sequence[Policy]], *, missing: str, poll_seconds: float, timeout_seconds: float
) -> list[Policy]:
    """The policies that must be ready, once they are. Raises PolicyError after the limit.

    read: looks for them. missing: what it means if there is none.
    """
    begun = time.monotonic()
    while True:
        policies = list(await within_limit(read, LOOK_SECONDS) or ())
        late = [policy for policy in policies if _state(policy) != "ready"]
        if policies and not late:
            return policies
        if time.monotonic() - begun >= timeout_seconds:
            raise PolicyError(_in_words(late[0], timeout_seconds) if late else f"after {timeout_seconds:g} s {missing}")
        await asyncio.sleep(poll_seconds)


def _state(policy: Policy) -> str:
    return str((policy.get("status") or {}).get("state") or "without a state")


def _in_words(policy: Policy, waited: float) -> str:
    status = policy.get("status") or {}
    said = [str(condition["message"]) for condition in status.get("conditions") or [] if condition.get("message")]
    late = [
        f"{part['name']} is {part['state']}"
        for part in status.get("appliedStates") or []
        if part.get("state") not in ("ready", "ignore")
    ]
    kind, name = policy["kind"], policy["metadata"]["name"]
    return (
        f"{kind} {name}, which others keep, is {_state(policy)} after {waited:g} s, and must be ready. "
        f"{'; '.join([*said, *late]) or 'The reason is unknown'}. Next: kubectl describe {kind.lower()} {name}; then "
        "pulumi up"
    )
