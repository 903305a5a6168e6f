"""What a managed cluster shows: what was asked for, AKS's defaults, and what AKS chose itself."""

import uuid
from collections.abc import Mapping
from typing import Any

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.kinds import Request
from rehearsal.azure.resources import cluster_rules, pool_defaults
from rehearsal.azure.resources.identities import find_identity


def render(cloud: Cloud, request: Request, shown: dict[str, Any]) -> dict[str, Any]:
    """A cluster's outputs. shown: those that any resource has."""
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
        **_names(shown, str(before.get("fqdn") or f"{prefix}-{unique[:8]}.hcp.{region}.azmk8s.io"), region),
        "azurePortalFQDN": before.get("azurePortalFQDN") or f"{prefix}-{unique[:8]}.portal.hcp.{region}.azmk8s.io",
        **({"aadProfile": _directory(cloud, shown["aadProfile"])} if shown.get("aadProfile") else {}),
        "identity": _identity(cloud, shown.get("identity") or {}, before.get("identity") or {}),
        "identityProfile": before.get("identityProfile") or _kubelet_identity(request, cloud),
        "oidcIssuerProfile": _issuer(cloud, shown.get("oidcIssuerProfile") or {}, region, unique),
        "eTag": str(uuid.uuid4()),
    }
    cluster["agentPoolProfiles"] = [
        _inline(cloud, request, pool, cluster) for pool in shown.get("agentPoolProfiles") or []
    ]
    return cluster


def _names(shown: Mapping[str, Any], fqdn: str, region: str) -> dict[str, str]:
    """The cluster's host names; a private cluster has one in its private zone too, for the same address."""
    access = shown.get("apiServerAccessProfile") or {}
    if not access.get("enablePrivateCluster"):
        return {"fqdn": fqdn}
    private = f"{fqdn.partition('.')[0]}.{uuid.uuid5(uuid.NAMESPACE_DNS, fqdn)}.privatelink.{region}.azmk8s.io"
    public = access.get("enablePrivateClusterPublicFQDN", True)
    return {"privateFQDN": private, **({"fqdn": fqdn} if public else {})}


def _directory(cloud: Cloud, profile: Mapping[str, Any]) -> dict[str, Any]:
    return {"adminGroupObjectIDs": [], "tenantID": cloud.subscription.tenant_id, **profile}


def _inline(cloud: Cloud, request: Request, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    current = cloud.store.get(f"{request.id}/agentPools/{pool['name']}")
    before = current.outputs if current else {}
    kept = {key: before[key] for key in pool_defaults.KEPT if key in before}
    return {**pool_defaults.defaults(cloud, {**kept, **pool}, cluster), "provisioningState": "Succeeded"}


def _identity(cloud: Cloud, identity: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    assigned = {}
    for given in identity.get("userAssignedIdentities") or []:
        if found := find_identity(cloud, given):
            assigned[given] = found
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
