"""Errors of Azure Resource Manager: which pass by themselves, and what helps against the others."""

import re
from typing import Final

from aks_infiniband.diagnosis.view import Finding

_TRANSIENT: Final = re.compile(
    r"OperationNotAllowed.*(another|in progress)|AnotherOperationInProgress|EtagMismatch|Conflict.*in progress"
    r"|canceled by a later operation|TooManyRequests|RetryableError|\b429\b",
    re.IGNORECASE | re.DOTALL,
)
"""Two operations on one cluster at a time, and throttling (pulumi-azure-native issues 3720, 4509; AKS issue 1913)."""

_CAUSES: Final = (
    (
        "QuotaExceeded|InsufficientVCPUQuota|exceeding approved .*quota",
        "the family's vCPU quota in this region is too small for the pool",
        "az vm list-usage --location <region> --output table",
    ),
    (
        "SkuNotAvailable|NotAvailableForSubscription",
        "the size is not offered to this subscription in this region or zone",
        "az vm list-skus --location <region> --size <size> --all --output table",
    ),
    (
        "AllocationFailed|Overconstrained",
        "Azure has no capacity for the size at the moment; a pool without zones may find some",
        None,
    ),
    ("PropertyChangeNotAllowed", "the property cannot change in place: the pool has to be replaced", None),
)
"""Pattern, cause, command: what users of AKS have met (langchain-ai/terraform issue 261, AKS issue 1444), and Azure's
"Troubleshoot common Azure deployment errors"."""


def is_transient(message: str) -> bool:
    """Whether the same operation may succeed a little later without anybody's doing."""
    return _TRANSIENT.search(message) is not None


def azure_findings(errors: tuple[str, ...]) -> list[Finding]:
    """Likely cause and next command for what Azure answered."""
    newest = errors[0] if errors else ""
    for pattern, cause, command in _CAUSES:
        if re.search(pattern, newest, re.IGNORECASE):
            return [Finding(what=newest.strip(), cause=cause, command=command)]
    return []
