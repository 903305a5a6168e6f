"""Azure's capacity for an agent pool: quota, machines that can be placed now, machines that are reserved."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from aks_infiniband.facts.catalog.machine import MachineSize

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import refused
from rehearsal.azure.naming import last_part
from rehearsal.azure.request_faults import no_room, quota_exceeded
from rehearsal.azure.resources.pool_defaults import TYPE
from rehearsal.azure.store import Record
from rehearsal.azure.subscription import CapacityReservationGroup, Size, by_id

_ASSIGNMENT: Final = "azure-native:authorization:RoleAssignment"
_CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
_UNRESERVED: Final = re.compile(r"Standard_(ND|HB|HC|HX)")
"""Sizes that cannot be reserved (MicrosoftDocs/azure-compute-docs, capacity-reservation-overview.md, 2026-02-17)."""


def require_cluster_quota(cloud: Cloud, region: str) -> None:
    """Refuse another cluster than the subscription may have in a region, in Azure's words (tests/field_recordings)."""
    limit = cloud.subscription.managed_clusters
    used = sum(cluster.outputs["location"] == region for cluster in cloud.store.all(_CLUSTER))
    if used >= limit:
        raise refused("too-many-clusters", limit=limit, used=used)


def require_quota(cloud: Cloud, pools: Iterable[tuple[Mapping[str, Any], int]], region: str) -> None:
    """Refuse more vCPUs than the quota has left. pools: outputs of pools, and by how many machines each grows."""
    more: dict[str, int] = {}
    offers = {}
    for pool, growth in pools:
        size = cloud.size(str(pool["vmSize"]))
        assert size
        offers[size.series] = cloud.subscription.series_of(size)
        more[size.series] = more.get(size.series, 0) + growth * quota_vcpus(size)
    used = usage(cloud, region)
    for series, required in more.items():
        _within(offers[series].family, region, offers[series].vcpus, used.get(series, 0), required)
    _within("Total Regional", region, cloud.subscription.regional_vcpus, sum(used.values()), sum(more.values()))


def _within(family: str, region: str, limit: int, used: int, required: int) -> None:
    if required > 0 and used + required > limit:
        raise quota_exceeded(family, region, limit=limit, used=used, required=required)


def quota_vcpus(size: Size | MachineSize) -> int:
    """The vCPUs that one machine counts against its family's quota; a constrained size counts like the full one."""
    return size.quota_vcpus if isinstance(size, MachineSize) else size.vcpus


def usage(cloud: Cloud, region: str) -> dict[str, int]:
    """VCPUs in use in a region, by series."""
    used: dict[str, int] = {}
    for record in cloud.store.all(TYPE):
        size = cloud.size(str(record.outputs["vmSize"]))
        cluster = cloud.store.get(record.id[: record.id.casefold().rfind("/agentpools/")])
        if size and cluster and cluster.outputs["location"] == region:
            used[size.series] = used.get(size.series, 0) + int(record.outputs["count"]) * quota_vcpus(size)
    return used


def require_placement(cloud: Cloud, pool: Mapping[str, Any], size: object, *, placed: bool) -> None:
    """Refuse a pool on one fabric with more machines than one placement group can have."""
    limit = cloud.subscription.placement_group_limit
    if placed and isinstance(size, MachineSize) and int(pool["count"]) > limit:
        raise refused("placement-group-is-full", count=pool["count"], limit=limit)


def require_capacity(cloud: Cloud, record: Record) -> None:
    """Refuse, as Azure does after it has accepted, machines that it cannot place now."""
    size, wanted = str(record.outputs["vmSize"]), int(record.outputs["count"])
    group_id = str(record.outputs.get("capacityReservationGroupID") or "")
    group = by_id(cloud.subscription.capacity_reservation_groups, group_id)
    if group:
        # The group has the machines that it has reserved, whatever else is short, and no others.
        if _placed(cloud, record, group_id) + wanted > group.machines.get(size, 0):
            raise no_room(record)
    elif (
        size in cloud.subscription.capacity and _placed(cloud, record, "") + wanted > cloud.subscription.capacity[size]
    ):
        raise no_room(record)


def _placed(cloud: Cloud, record: Record, group_id: str) -> int:
    """Machines of the size that other pools have, of a group or (empty) of none."""
    return sum(
        len(other.details.get("machines", []))
        for other in cloud.store.all(TYPE)
        if other.outputs["vmSize"] == record.outputs["vmSize"]
        and other.id != record.id
        and str(other.outputs.get("capacityReservationGroupID") or "").casefold() == group_id.casefold()
    )


def require_reservation(cloud: Cloud, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> None:
    """Refuse a capacity reservation group that is not there, is not the cluster's to use, or has nothing for the pool.

    Sources: Azure, "Associate a virtual machine scale set with a capacity reservation group": size, region and zone
    must match a member reservation; AKS, "Use capacity reservation groups": the cluster's user-assigned identity needs
    the role Contributor on the group. The codes are Azure's; the sentences are ours except for Resource Manager's own
    AuthorizationFailed.
    """
    wanted = pool.get("capacityReservationGroupID")
    if not wanted:
        return
    group = by_id(cloud.subscription.capacity_reservation_groups, str(wanted))
    if group is None:
        raise refused("no-such-reservation", wanted=wanted, name=pool["name"])
    _require_permission(cloud, str(wanted), cluster)
    if reason := _mismatch(group, pool, str(cluster["location"])):
        raise refused("reservation-does-not-fit", wanted=wanted, name=pool["name"], reason=reason)


def _require_permission(cloud: Cloud, group_id: str, cluster: Mapping[str, Any]) -> None:
    """Refuse a cluster without a role on the group: existing identities have one, the program's own must get it."""
    identities = (cluster.get("identity") or {}).get("userAssignedIdentities") or {}
    permitted = {
        record.outputs["principalId"]
        for record in cloud.store.all(_ASSIGNMENT)
        if f"{group_id}/".casefold().startswith(f"{record.outputs['scope']}/".casefold())
        and cloud.subscription.roles[last_part(record.outputs["roleDefinitionId"])] in ("Contributor", "Owner")
    }
    for identity, known in identities.items():
        is_existing = by_id(cloud.subscription.existing_identities, identity)
        if is_existing or known["principalId"] in permitted:
            return
    principal = next((known["principalId"] for known in identities.values()), None) or str(
        (cluster.get("identity") or {}).get("principalId")
    )
    raise refused("reservation-not-permitted", principal=principal, group_id=group_id)


def _mismatch(group: CapacityReservationGroup, pool: Mapping[str, Any], region: str) -> str | None:
    zones = pool.get("availabilityZones") or []
    if _UNRESERVED.match(str(pool["vmSize"])):
        return f"capacity reservation is not available for size '{pool['vmSize']}'"
    if group.region != region:
        return f"it is in location '{group.region}', not '{region}'"
    if str(pool["vmSize"]) not in group.machines:
        return f"it reserves no machine of size '{pool['vmSize']}', only {', '.join(group.machines)}"
    if group.zones and not zones:
        return f"it is zonal (zones {', '.join(group.zones)}), and the agent pool does not have a zone"
    if outside := [zone for zone in zones if zone not in group.zones]:
        return f"it reserves nothing in zones {', '.join(outside)}"
    return None
