"""Requests that Azure refuses, or accepts and does not carry out, although nothing is wrong with them.

The subscription file says which and how many; the texts are Azure's.
"""

import uuid
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.store import Operation, Record
from rehearsal.azure.subscription_faults import NO_ROOM, Fault, FaultOperation

_ETAG: Final = "rpc error: code = FailedPrecondition desc = Etag mismatched"
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
    return refused(
        f"fault-{fault.code}",
        other=last_part(others[0].id) if others else "system",
        scope=resource,
        name=last_part(resource),
        parent=resource.partition("/providers/")[0],
        size="the requested size",
        region=region,
        family=family,
        vcpus=vcpus,
        detail=_ETAG if fault.code == "EtagMismatch" else None,
    )


def quota_exceeded(family: str, region: str, *, limit: int, used: int, required: int) -> AzureError:
    """The quota of a family has fewer vCPUs left than a request takes (recorded: azure-errors.yaml, quota-regional)."""
    return refused(
        "quota-exceeded",
        family=family,
        region=region,
        limit=limit,
        used=used,
        required=required,
        new_limit=used + required,
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
        raise refused("node-does-not-come-up")
    if operation.fault == "Canceled":
        raise refused("canceled-by-a-later-operation", operation=uuid.uuid4())


def no_room(record: Record, code: str = "AllocationFailed") -> AzureError:
    """Azure cannot place a pool's machines now (Azure, "Troubleshoot allocation failures"; AKS issue 1444)."""
    return refused(f"fault-{code}", pool=record.outputs["name"], size=record.outputs["vmSize"])
