"""Errors of Azure Resource Manager: which pass by themselves, and what helps against the others."""

import re
from collections.abc import Mapping
from typing import Any, Final

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

_CAUSES: Final = (
    (
        r"QuotaExceeded|InsufficientVCPUQuota|exceeding approved .*quota",
        "the family's vCPU quota in this region is too small for the pool; ask for more in the Azure portal, Quotas",
        "az vm list-usage --location <region> --output table",
    ),
    (
        r"SkuNotAvailable|NotAvailableForSubscription|VM size of .* is not allowed in your subscription",
        "the size is not offered to this subscription in this region or zone: another region, or a request to Azure's "
        "support to be admitted",
        "az vm list-skus --location <region> --size {vmSize} --all --output table",
    ),
    (
        r"Overconstrained(Zonal)?AllocationRequest",
        "Azure has machines of this size, but none that meet every constraint at once: zone, one placement group, "
        "capacity reservation, OS disk type; leave out the zone first",
        "pulumi up, with fewer constraints on the pool",
    ),
    (
        r"ZonalAllocationFailed",
        "Azure has no capacity for the size in this zone at the moment; a pool without zones may find some",
        "pulumi up, without the pool's zones or with another one",
    ),
    (
        r"AllocationFailed",
        "Azure has no capacity for the size in this region at the moment, which no change of the settings mends: "
        "later, fewer machines, another region, or a capacity reservation that keeps them",
        "pulumi up, once there is capacity; it repairs the pool",
    ),
    (
        r"Cannot manually scale",
        "the autoscaler has moved the pool while this ran; the next run takes over its count",
        "pulumi up",
    ),
    (
        r"PropertyChangeNotAllowed",
        "the property cannot change in place: the pool has to be replaced",
        None,
    ),
    (
        r"cannot create already existing",
        "somebody else made it, or an earlier run was cut short before it was recorded",
        "pulumi import (to keep what is there), or delete it in Azure, then pulumi up",
    ),
    (
        r"AuthorizationFailed.*capacityReservationGroups|capacityReservationGroups.*AuthorizationFailed",
        "the cluster's identity may not use the capacity reservation group: give the cluster an existing identity "
        "(identityId) that has the role Contributor on the group",
        "az role assignment list --scope <the group's ID> --output table",
    ),
    (
        r"AuthorizationFailed.*roleAssignments/write|roleAssignments/write.*AuthorizationFailed",
        "whoever runs pulumi up may not assign roles there; give an identity that has the role Network Contributor "
        "on the subnets already (identityId), or run as somebody who may",
        "az role assignment list --assignee <who runs pulumi> --all --output table",
    ),
    (
        r"K8sVersionNotSupported.*Long-Term Support",
        "community support of this Kubernetes has ended, and AKS makes it with LTS only: a newer kubernetesVersion, or "
        "supportPlan AKSLongTermSupport, which has its price",
        "az aks get-versions --location <region> --output table",
    ),
    (
        r"K8sVersionNotSupported",
        "AKS does not have this kubernetesVersion, or this patch of it, in the region",
        "az aks get-versions --location <region> --output table",
    ),
    (
        r"InvalidOSSKU",
        "AKS does not have this osSku for the size, the Kubernetes version or the API version of the request",
        None,
    ),
    (
        r"Feature Microsoft\.ContainerService/\S+ is not (enabled|registered)",
        "the subscription has not registered the feature, or not registered the resource provider again since",
        "az provider register --namespace Microsoft.ContainerService, once az feature show says Registered",
    ),
)
_PASSING_CAUSES: Final = (
    (
        _SPREADING.pattern,
        "the identity has no role on the subnet: it was not given one, or one that Azure did not know everywhere after "
        "ten minutes",
        "az role assignment list --scope <the subnet's ID> --output table; then pulumi up",
    ),
    (
        r"canceled by a later operation|OriginalEtagNotExpect",
        "Azure had accepted the operation, and then let a later one go first; what was made is recorded, and the next "
        "run repairs it (or make pools one at a time: poolOperations serial)",
        "pulumi up",
    ),
)
"""Pattern, cause, next step, the most particular first.

Source: Azure, "Troubleshoot the ZonalAllocationFailed, AllocationFailed, or OverconstrainedAllocationRequest error
code" (AKS) and "Troubleshoot common Azure deployment errors"; what users met: langchain-ai/terraform issue 261, AKS
issues 1444, 5595 and 1913.
"""
_LASTING: Final = "|".join(pattern for pattern, _, _ in _CAUSES)


def is_transient(message: str) -> bool:
    """Whether the same operation may succeed a little later without any change.

    Missing capacity and quota are not transient: they last, so people have to be told.
    """
    passes = _TRANSIENT.search(message) is not None or is_spreading(message)
    return passes and not re.search(_LASTING, message, re.IGNORECASE | re.DOTALL)


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
    for pattern, cause, step in (*_CAUSES, *_PASSING_CAUSES):
        if re.search(pattern, message, re.IGNORECASE | re.DOTALL):
            size = str(inputs.get("vmSize", "<size>"))
            return [Finding(what=message.strip(), cause=cause, command=step and step.replace("{vmSize}", size))]
    return []
