"""Managed clusters: one at a time, for one control plane stands behind them; inline pools come and go with theirs."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from pulumi_azure_native import containerservice

from rehearsal.azure import naming
from rehearsal.azure.emptying import empty
from rehearsal.azure.errors import NotSimulatedError
from rehearsal.azure.kinds import Kind, Request
from rehearsal.azure.models import check_cluster
from rehearsal.azure.resources import agent_pools, cluster_rules, pool_rules
from rehearsal.azure.resources.groups import base_outputs
from rehearsal.azure.resources.identities import find_identity
from rehearsal.azure.store import Record

if TYPE_CHECKING:
    from rehearsal.azure.cloud import Cloud


def _refuse_create(cloud: Cloud, request: Request) -> None:
    for other in cloud.store.all(MANAGED_CLUSTER.pulumi_type):
        raise NotSimulatedError(
            "A rehearsal has one control plane and so one managed cluster at a time; "
            f"{naming.last_part(other.id)} exists. "
            f"Delete it before {request.name} is created (deleteBeforeReplace), or rehearse the stacks one by one."
        )
    cluster_rules.require_cluster(cloud, request)
    cluster = _render(cloud, request)
    region = cluster["location"]
    pools = cluster["agentPoolProfiles"]
    for pool in pools:
        pool_rules.require_pool(cloud, pool, pool["name"], region, before=None)
    cluster_rules.require_system_pool(pools)
    cluster_rules.require_network(cloud, cluster)
    pool_rules.require_quota(cloud, [(pool, int(pool["count"])) for pool in pools], region)


def _refuse_update(cloud: Cloud, request: Request) -> None:
    record = request.current
    assert record
    agent_pools.refuse_conflict(record, *cloud.store.all(pool_rules.TYPE, under=record.id))
    cluster_rules.require_cluster(cloud, request)
    cluster_rules.require_unchanged(cloud, request)
    cluster = _render(cloud, request)
    grown = []
    for pool in cluster["agentPoolProfiles"]:
        current = cloud.store.get(f"{record.id}/agentPools/{pool['name']}")
        if current is None:
            raise cluster_rules.new_inline_pool()
        pool_rules.require_pool(cloud, pool, pool["name"], cluster["location"], before=current.outputs)
        grown.append((pool, int(pool["count"]) - int(current.outputs["count"])))
    cluster_rules.require_system_pool(cluster["agentPoolProfiles"])
    pool_rules.require_quota(cloud, grown, cluster["location"])


def _refuse_delete(_cloud: Cloud, record: Record) -> None:
    agent_pools.refuse_conflict(record)


def _render(cloud: Cloud, request: Request) -> dict[str, Any]:
    shown = base_outputs(MANAGED_CLUSTER.path, request, MANAGED_CLUSTER.arm_type, MANAGED_CLUSTER.api_version)
    before = request.current.outputs if request.current else {}
    group, region = request.path["resourceGroupName"], shown["location"]
    version = str(shown.get("kubernetesVersion") or cloud.subscription.default_kubernetes_version)
    unique = before.get("resourceUID") or uuid.uuid4().hex[:24]
    prefix = shown.get("dnsPrefix") or shown.get("fqdnSubdomain") or request.name
    cluster = {
        "enableRBAC": True,
        "disableLocalAccounts": False,
        "maxAgentPools": 100,
        "nodeResourceGroup": f"MC_{group}_{request.name}_{region}"[:80],
        "sku": {"name": "Base", "tier": "Free"},
        "supportPlan": "KubernetesOfficial",
        **shown,
        "kubernetesVersion": version,
        "currentKubernetesVersion": cloud.subscription.patch_of(version) or version,
        "networkProfile": cluster_rules.network_profile(shown.get("networkProfile") or {}),
        "powerState": {"code": "Running"},
        "resourceUID": unique,
        "fqdn": before.get("fqdn") or f"{prefix}-{unique[:8]}.hcp.{region}.azmk8s.io",
        "azurePortalFQDN": before.get("azurePortalFQDN") or f"{prefix}-{unique[:8]}.portal.hcp.{region}.azmk8s.io",
        "identity": _identity(cloud, shown.get("identity") or {}, before.get("identity") or {}),
        "identityProfile": before.get("identityProfile") or _kubelet_identity(request, cloud),
        "oidcIssuerProfile": _issuer(cloud, shown.get("oidcIssuerProfile") or {}, region, unique),
        "eTag": str(uuid.uuid4()),
    }
    cluster["agentPoolProfiles"] = [
        _inline(cloud, request, pool, cluster) for pool in shown.get("agentPoolProfiles") or []
    ]
    return cluster


def _inline(cloud: Cloud, request: Request, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    current = cloud.store.get(f"{request.id}/agentPools/{pool['name']}")
    before = current.outputs if current else {}
    kept = {key: before[key] for key in pool_rules.IMMUTABLE if key in before}
    return {**pool_rules.defaults(cloud, {**kept, **pool}, cluster), "provisioningState": "Succeeded"}


def _identity(cloud: Cloud, identity: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    assigned = {}
    for given in identity.get("userAssignedIdentities") or []:
        record = find_identity(cloud, given)
        if record:
            assigned[given] = {key: record.outputs[key] for key in ("clientId", "principalId")}
    own = {"principalId": before.get("principalId") or str(uuid.uuid4()), "tenantId": cloud.subscription.tenant_id}
    system = own if identity.get("type") == "SystemAssigned" else {}
    return {**identity, **system, **({"userAssignedIdentities": assigned} if assigned else {})}


def _kubelet_identity(request: Request, cloud: Cloud) -> dict[str, Any]:
    name = f"{request.name}-agentpool"
    resource = (
        f"/subscriptions/{cloud.subscription.subscription_id}/resourceGroups/MC_{request.path['resourceGroupName']}_"
        f"{request.name}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    )
    return {"kubeletidentity": {"clientId": str(uuid.uuid4()), "objectId": str(uuid.uuid4()), "resourceId": resource}}


def _issuer(cloud: Cloud, profile: Mapping[str, Any], region: str, unique: str) -> dict[str, Any]:
    if not profile.get("enabled"):
        return {"enabled": False}
    issuer = uuid.uuid5(uuid.NAMESPACE_URL, unique)
    return {
        "enabled": True,
        "issuerURL": f"https://{region}.oic.prod-aks.azure.com/{cloud.subscription.tenant_id}/{issuer}/",
    }


def _pool_record(cluster: Record, pool: Mapping[str, Any], details: dict[str, Any]) -> Record:
    group, name = cluster.id.split("/")[4], naming.last_part(cluster.id)
    inputs = {"resourceGroupName": group, "resourceName": name, "agentPoolName": pool["name"], **pool}
    outputs = {**pool, "azureApiVersion": agent_pools.AGENT_POOL.api_version, "type": pool["type"]}
    return Record(
        id=f"{cluster.id}/agentPools/{pool['name']}",
        pulumi_type=pool_rules.TYPE,
        inputs=inputs,
        outputs=outputs,
        details=details,
    )


def _create(cloud: Cloud, record: Record) -> None:
    assert record.operation
    with cloud.clock.changed:
        for pool in record.outputs["agentPoolProfiles"]:
            if cloud.store.get(f"{record.id}/agentPools/{pool['name']}") is None:
                details = agent_pools.details(cloud, pool)
                cloud.store.put(_pool_record(record, pool, {**details, "provisioned": True}))
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("cluster"))
    end = (
        record.operation.started
        + cloud.clock.latencies.seconds("cluster")
        + cloud.clock.latencies.seconds("systemPool")
    )
    for pool_record in cloud.store.all(pool_rules.TYPE, under=record.id):
        agent_pools.grow(cloud, pool_record, end=end)


def _update(cloud: Cloud, record: Record) -> None:
    assert record.operation
    end = record.operation.started + cloud.clock.latencies.seconds("poolUpdate")
    cloud.clock.pause_until(end)
    for pool in record.outputs["agentPoolProfiles"]:
        pool_record = cloud.store.get(f"{record.id}/agentPools/{pool['name']}")
        if pool_record:
            with cloud.clock.changed:
                pool_record.outputs.update(pool)
                cloud.store.save()
            agent_pools.converge(cloud, pool_record, end=end)


def _delete(cloud: Cloud, record: Record) -> None:
    assert record.operation
    empty(cloud.cluster_api, cloud.clock)
    cloud.clock.pause_until(record.operation.started + cloud.clock.latencies.seconds("clusterDelete"))
    for pool in cloud.store.all(under=record.id):
        cloud.store.remove(pool.id)


MANAGED_CLUSTER: Final = Kind(
    pulumi_type="azure-native:containerservice:ManagedCluster",
    arguments=containerservice.ManagedClusterArgs,
    resource=containerservice.ManagedCluster,
    arm_type="Microsoft.ContainerService/ManagedClusters",
    path=(
        "/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Microsoft.ContainerService"
        "/managedClusters/{resourceName}"
    ),
    naming="random",
    name_rule=naming.MANAGED_CLUSTER,
    force_new=frozenset(
        {
            "diskEncryptionSetID",
            "dnsPrefix",
            "fqdnSubdomain",
            "linuxProfile",
            "location",
            "nodeResourceGroup",
            "windowsProfile",
            "networkProfile.serviceCidr",
            "networkProfile.serviceCidrs",
            "networkProfile.dnsServiceIP",
            "networkProfile.networkMode",
            "networkProfile.networkPlugin",
            "networkProfile.networkPluginMode",
            "networkProfile.podCidr",
            "networkProfile.networkDataplane",
            "networkProfile.networkPolicy",
            "networkProfile.outboundType",
        }
    ),
    check=check_cluster,
    refuse_create=_refuse_create,
    refuse_update=_refuse_update,
    refuse_delete=_refuse_delete,
    render=_render,
    create=_create,
    update=_update,
    delete=_delete,
)
