"""Requests that Azure refuses, or accepts and does not carry out, although nothing is wrong with them.

The subscription file says which and how many; the texts are Azure's.
"""

import uuid
from collections.abc import Iterator
from fnmatch import fnmatch
from http import HTTPStatus
from typing import Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, bad_request
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Operation, Record
from rehearsal.azure.subscription_faults import NO_ROOM, Fault, FaultOperation

_PENDING: Final = "See https://aka.ms/aks-pending-operation for more details"
_ETAG: Final = "rpc error: code = FailedPrecondition desc = Etag mismatched"
_REFUSED_AT_ONCE: Final = {
    # Azure, "Troubleshoot API throttling errors"; the body of Azure/AKS issue 2417.
    "TooManyRequests": (
        HTTPStatus.TOO_MANY_REQUESTS,
        "The request is being throttled as the limit has been reached for operation type - Write_SubscriptionLevel. "
        "For more information, see - https://aka.ms/srpthrottlinglimits. Please try again after 20 seconds.",
    ),
    # cilium issue 25944; Azure/terraform-azurerm-avm-ptn-aks-production PR 25.
    "OperationNotAllowed": (
        HTTPStatus.CONFLICT,
        "Operation is not allowed: Another agentpool operation ({other} - Creating) is in progress, please wait for it "
        f"to finish before starting a new operation. {_PENDING}",
    ),
    # Azure/terraform-azurerm-aks issue 604.
    "EtagMismatch": (HTTPStatus.CONFLICT, "Operation is not allowed: Another operation is in progress"),
    # pulumi-azure-native, provider/pkg/azure/client_azcore.go, shouldRetryConflict: the one conflict it tries again.
    "AnotherOperationInProgress": (
        HTTPStatus.CONFLICT,
        "Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: "
        "https://management.azure.com/operations.",
    ),
    # A role that has not spread yet (tests/field_recordings/azure-errors.yaml, subnet-not-joined).
    "LinkedAuthorizationFailed": (
        HTTPStatus.FORBIDDEN,
        "The client '33333333-4444-4555-8666-777777777777' with object id '33333333-4444-4555-8666-777777777777' has "
        "permission to perform action 'Microsoft.ContainerService/managedClusters/write' on scope '{scope}'; however, "
        "it does not have permission to perform action 'Microsoft.Network/virtualNetworks/subnets/join/action' on the "
        "linked scope(s) '/subscriptions/…/virtualNetworks/…/subnets/…' or the linked scope(s) are invalid.",
    ),
    # hashicorp/terraform-provider-azurerm issue 4799: the user who runs this may not register resource providers.
    "AuthorizationFailed": (
        HTTPStatus.FORBIDDEN,
        "The client '33333333-4444-4555-8666-777777777777' with object id '33333333-4444-4555-8666-777777777777' does "
        "not have authorization to perform action '{name}/register/action' over scope '{parent}' or the scope is "
        "invalid. If access was recently granted, please refresh your credentials.",
    ),
    # hashicorp/terraform-provider-azurerm issue 20867.
    "ExpiredAuthenticationToken": (
        HTTPStatus.UNAUTHORIZED,
        "The access token expiry UTC time '11/22/2026 8:55:46 AM' is earlier than current UTC time '11/22/2026 8:59:27 "
        "AM'.",
    ),
    # Recorded: tests/field_recordings/azure-errors.yaml, quota-aks. Machines elsewhere have used the quota up.
    "ErrCode_InsufficientVCPUQuota": (
        HTTPStatus.BAD_REQUEST,
        "Insufficient vcpu quota requested {vcpus}, remaining 0 for family {family} for region {region}. Surge nodes "
        "would also consume vcpu quota.",
    ),
    # Azure, "Resolve errors for SKU not available".
    "SkuNotAvailable": (
        HTTPStatus.CONFLICT,
        "The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: {size}' is "
        "currently not available in location '{region}'. Please try another size or deploy to a different location "
        "or different zone. See https://aka.ms/azureskunotavailable for details.",
    ),
    # Azure/AKS issue 4113, with the newer code of MicrosoftDocs/SupportArticles-docs pull request 1834.
    "AksCapacityHeavyUsage": (
        HTTPStatus.CONFLICT,
        "Creating a new cluster is unavailable at this time in region {region}. In order to create a new cluster, we "
        "recommend using an alternate region. For a list of all the Azure regions, visit https://aka.ms/aks/regions.",
    ),
}


_LATER_SECONDS: Final = 0.1
_LATER_LOOKS: Final = 600
"""The number of looks of an operation, and the real seconds between them, for the request that is to come at the same
time.
"""
_ACCEPTED: Final = (*NO_ROOM, "VMExtensionProvisioningError", "ApiServerUnreachable", "Hang")
"""The errors that show only after Azure has accepted the request."""


def meet(cloud: Cloud, pulumi_type: str, resource: str, operation: FaultOperation) -> Fault | None:
    """The fault with which an accepted request will end; None when no fault meets the request.

    Raises AzureError when it is refused.
    """
    for index, fault in enumerate(cloud.faults()):
        others = list(_under_way(cloud, pulumi_type, resource))
        if not _concerns(fault, pulumi_type, resource, operation) or (fault.side_by_side and not others):
            continue
        if fault.first and cloud.met.get(index, 0) >= fault.first:
            continue
        cloud.met[index] = cloud.met.get(index, 0) + 1
        if fault.code in _ACCEPTED:
            return fault
        if fault.code == "Canceled":
            for other in others:
                assert other.operation
                other.operation.fault = fault.code
            return None
        raise _refusal(cloud, fault, resource, others)
    return None


def _concerns(fault: Fault, pulumi_type: str, resource: str, operation: FaultOperation) -> bool:
    return (
        pulumi_type.rpartition(":")[2] == fault.type
        and fnmatch(last_part(resource), fault.name)
        and operation in fault.operations
    )


def _under_way(cloud: Cloud, pulumi_type: str, resource: str) -> Iterator[Record]:
    """Other resources of the type and with the same parent that have an operation in progress."""
    parent = resource.rpartition("/")[0]
    for record in cloud.store.all(pulumi_type, under=parent):
        if record.operation and record.id.casefold() != resource.casefold():
            yield record


def _refusal(cloud: Cloud, fault: Fault, resource: str, others: list[Record]) -> AzureError:
    cluster, record = cloud.store.get(resource[: resource.casefold().rfind("/agentpools/")]), cloud.store.get(resource)
    region = str(cluster.outputs["location"]) if cluster else "the requested location"
    size = cloud.size(str(record.outputs.get("vmSize"))) if record else None
    series = cloud.subscription.series_of(size) if size else None
    family, vcpus = (series.family, size.vcpus) if series and size else ("the requested", 0)
    if fault.code == "QuotaExceeded":
        limit = series.vcpus if series else 0
        return quota_exceeded(family, region, limit=limit, used=limit, required=vcpus)
    status, message = _REFUSED_AT_ONCE[fault.code]
    return AzureError(
        status,
        fault.code,
        message.format(
            other=last_part(others[0].id) if others else "system",
            scope=resource,
            name=last_part(resource),
            parent=resource.partition("/providers/")[0],
            size="the requested size",
            region=region,
            family=family,
            vcpus=vcpus,
        ),
        detail=_ETAG if fault.code == "EtagMismatch" else None,
    )


def quota_exceeded(family: str, region: str, *, limit: int, used: int, required: int) -> AzureError:
    """The quota of a family has fewer vCPUs left than a request takes (recorded: azure-errors.yaml, quota-regional)."""
    return bad_request(
        "QuotaExceeded",
        f"Operation could not be completed as it results in exceeding approved {family} Cores quota. Additional "
        f"details - Deployment Model: Resource Manager, Location: {region}, Current Limit: {limit}, Current Usage: "
        f"{used}, Additional Required: {required}, (Minimum) New Limit Required: {used + required}. Setup Alerts "
        "when Quota reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting . Submit a request for "
        "Quota increase at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView by "
        "specifying parameters listed in the 'Details' section for deployment to succeed. Please read more about "
        "quota limits at https://docs.microsoft.com/en-us/azure/azure-supportability/per-vm-quota-requests",
    )


def fail_early(cloud: Cloud, record: Record, operation: Operation) -> None:
    """Fail an operation before it changes anything, if a fault requires that. Raises AzureError."""
    if operation.fault in NO_ROOM and not operation.late:
        cloud.clock.pause_until(operation.started + cloud.clock.latencies.seconds("poolUpdate"))
        raise no_room(record, operation.fault)


def await_company(cloud: Cloud, record: Record, operation: Operation) -> None:
    """Let an operation last until the later request that a fault requires has come: a busy computer sends it late."""
    for index, fault in enumerate(cloud.faults()):
        if fault.side_by_side and _concerns(fault, record.pulumi_type, record.id, operation.kind):
            for _ in range(_LATER_LOOKS):
                if cloud.met.get(index, 0) >= fault.first:
                    break
                cloud.clock.pause(_LATER_SECONDS)


def fail_late(record: Record, operation: Operation) -> None:
    """Fail an operation at its end, if a fault or a later request requires that. Raises AzureError."""
    if operation.fault in NO_ROOM:
        raise no_room(record, operation.fault)
    if operation.fault == "ApiServerUnreachable":
        record.details["unreachable"] = True
    if operation.fault == "VMExtensionProvisioningError":
        # Azure/AKS issue 2830, shortened.
        raise AzureError(
            HTTPStatus.CONFLICT,
            "VMExtensionProvisioningError",
            "VM has reported a failure when processing extension 'vmssCSE'. Error message: \"Enable failed: failed to "
            "execute command: command terminated with exit status=50 [stdout] [stderr] curl: (35) OpenSSL SSL_connect: "
            'SSL_ERROR_SYSCALL in connection to mcr.microsoft.com:443"',
        )
    if operation.fault == "Canceled":
        # Azure/AKS issue 1913, hashicorp/terraform-provider-azurerm issue 8260; the spelling is Azure's.
        raise AzureError(
            HTTPStatus.CONFLICT,
            "Canceled",
            f"The operation was overriden and canceled by a later operation {uuid.uuid4()}.",
        )


def no_room(record: Record, code: str = "AllocationFailed") -> AzureError:
    """Azure cannot place a pool's machines now (Azure, "Troubleshoot allocation failures"; AKS issue 1444)."""
    said = _NO_ROOM.get(code, _TOO_RESTRICTIVE).format(size=record.outputs["vmSize"])
    of = f"Provisioning of resource(s) for Agent Pool {record.outputs['name']} failed."
    return AzureError(HTTPStatus.CONFLICT, code, f"{of} Error: Allocation failed. {said}")


_GUIDANCE: Final = "Read more about improving likelihood of allocation success at https://aka.ms/allocation-guidance"
_NO_ROOM: Final = {
    "AllocationFailed": (
        f"We do not have sufficient capacity for the requested VM size {{size}} in this region. {_GUIDANCE}"
    ),
    # Azure, "Troubleshoot the ZonalAllocationFailed, AllocationFailed, or OverconstrainedAllocationRequest error code".
    "ZonalAllocationFailed": (
        f"We do not have sufficient capacity for the requested VM size {{size}} in this zone. {_GUIDANCE}"
    ),
}
_TOO_RESTRICTIVE: Final = (
    "VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. Please remove "
    "some constraints and try again. Constraints applied are:\n  - Differencing (Ephemeral) Disks\n  - Networking "
    "Constraints (such as Accelerated Networking or IPv6)\n  - VM Size\n"
)
"""Recorded: tests/field_recordings/azure-errors.yaml, allocation-constraints."""
