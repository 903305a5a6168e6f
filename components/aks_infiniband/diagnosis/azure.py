"""Errors of Azure Resource Manager: which pass by themselves, and what helps against the others."""

import re
from collections.abc import Mapping
from typing import Any, Final

from aks_infiniband.diagnosis.known_messages import AZURE_LASTING, AZURE_PASSING
from aks_infiniband.diagnosis.view import Finding

_TRANSIENT: Final = re.compile(
    r"OperationNotAllowed.*(another|in progress)|Operation is not allowed: Another|AnotherOperationInProgress"
    r"|EtagMismatch|Conflict.*in progress"
    r"|canceled by a later operation|OriginalEtagNotExpect"
    r"|TooManyRequests|RequestsThrottled|RetryableError|Status=429|RESPONSE 429|429 Too Many",
    re.IGNORECASE | re.DOTALL,
)
"""Two operations on one cluster or network at a time, and throttling.

In the words of AKS issue 1913, terraform-azurerm-aks issue 604, cilium issue 25944, kaito issue 2075 (conflicts) and
pulumi-azure-native issues 3720 and 4509 (throttling, which the provider does not try again).
"""
_SPREADING: Final = re.compile(r"AuthorizationFailed.*virtualNetworks/subnets/|SubnetMissingPermission", re.DOTALL)
"""A role on a subnet that was never given, or that Azure does not know everywhere yet: both read the same (Azure,
"Troubleshoot Azure RBAC": up to 10 minutes; the words of aad-pod-identity pull request 550)."""
_ASKED_TO_WAIT: Final = re.compile(r"try again after '?(\d+)'? seconds|retry after '?(\d+)'? seconds", re.IGNORECASE)
"""How Azure Resource Manager says when it takes the next request (Azure, "Throttling Resource Manager requests")."""


def is_transient(message: str) -> bool:
    """Whether the same operation may succeed a little later without any change.

    Missing capacity and quota are not transient: they last, so people have to be told.
    """
    passes = _TRANSIENT.search(message) is not None or is_spreading(message)
    return passes and not any(_says(message, known.pattern) for known in AZURE_LASTING)


def is_spreading(message: str) -> bool:
    """Whether a role on a subnet may not be known everywhere yet: that takes ten minutes at most."""
    return _SPREADING.search(message) is not None


def asked_to_wait(message: str) -> float:
    """Seconds for which Azure asks for no further request; 0 where it does not say."""
    found = _ASKED_TO_WAIT.search(message)
    return float(found[1] or found[2]) if found else 0.0


def azure_findings(message: str, inputs: Mapping[str, Any]) -> list[Finding]:
    """Likely cause and next step for what Azure answered.

    inputs: of the resource whose operation failed.
    """
    for known in (*AZURE_LASTING, *AZURE_PASSING):
        if _says(message, known.pattern):
            command = known.command and known.command.replace("{vmSize}", str(inputs.get("vmSize", "<size>")))
            return [Finding(what=message.strip(), cause=known.cause, command=command)]
    return []


def _says(message: str, pattern: str) -> bool:
    return re.search(pattern, message, re.IGNORECASE | re.DOTALL) is not None
