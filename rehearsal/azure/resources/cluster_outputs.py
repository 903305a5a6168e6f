"""The outputs of a managed cluster: the requested values, AKS's defaults, and AKS's own choices."""

import uuid
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from rehearsal.azure.cloud import Cloud
from rehearsal.azure.kinds import Request
from rehearsal.azure.resources import cluster_rules, pool_defaults
from rehearsal.azure.resources.identities import find_identity
from rehearsal.azure.subscription import version_key

_DEFAULTS: Final = {
    "enableRBAC": True,
    "disableLocalAccounts": False,
    "maxAgentPools": 100,
    "sku": {"name": "Base", "tier": "Free"},
    "supportPlan": "KubernetesOfficial",
    "servicePrincipalProfile": {"clientId": "msi"},
    "autoUpgradeProfile": {"nodeOSUpgradeChannel": "NodeImage"},
    "securityProfile": {},
    "storageProfile": {name: {"enabled": True} for name in ("diskCSIDriver", "fileCSIDriver", "snapshotController")},
    "workloadAutoScalerProfile": {},
    "metricsProfile": {"costAnalysis": {"enabled": False}},
    "nodeProvisioningProfile": {"mode": "Manual", "defaultNodePools": "Auto"},
    "bootstrapProfile": {"artifactSource": "Direct"},
}
"""AKS's values if none were requested (tests/field_recordings/aks-bodies.yaml, aks-cluster)."""
_ISSUER_FROM: Final = "1.34"
"""Kubernetes from which a new cluster has an OIDC issuer unasked (azure-aks-docs fb060ab, use-oidc-issuer.md)."""


def render(cloud: Cloud, request: Request, shown: dict[str, Any]) -> dict[str, Any]:
    """A cluster's outputs. shown: those that any resource has."""
    before = request.current.outputs if request.current else {}
    group, region = request.path["resourceGroupName"], shown["location"]
    version = str(shown.get("kubernetesVersion") or cloud.subscription.default_kubernetes_version)
    unique = before.get("resourceUID") or uuid.uuid4().hex[:24]
    cluster = {
        "nodeResourceGroup": f"MC_{group}_{request.name}_{region}",
        **deepcopy(_DEFAULTS),
        **shown,
        "kubernetesVersion": version,
        "currentKubernetesVersion": cloud.subscription.patch_of(version) or version,
        "powerState": {"code": "Running"},
        "resourceUID": unique,
        **_reached(request, shown, before, str(unique)[:8], region),
        **({"aadProfile": _directory(cloud, shown["aadProfile"])} if shown.get("aadProfile") else {}),
        "identity": _identity(cloud, shown.get("identity") or {}, before.get("identity") or {}),
        "oidcIssuerProfile": _issuer(cloud, shown, before, version, unique),
        "eTag": str(uuid.uuid4()),
    }
    machines = f"/subscriptions/{cloud.subscription.subscription_id}/{{}}/{cluster['nodeResourceGroup']}/providers"
    cluster["networkProfile"] = _network(shown.get("networkProfile") or {}, machines.format("resourceGroups"), unique)
    kubelet = f"{machines.format('resourcegroups')}/Microsoft.ManagedIdentity/userAssignedIdentities/{request.name}"
    cluster["identityProfile"] = before.get("identityProfile") or _kubelet_identity(kubelet)
    cluster["agentPoolProfiles"] = [
        _inline(cloud, request, pool, cluster) for pool in shown.get("agentPoolProfiles") or []
    ]
    return cluster


def _reached(
    request: Request, shown: Mapping[str, Any], before: Mapping[str, Any], digits: str, region: str
) -> dict[str, Any]:
    """The cluster's host names; a private cluster has a separate one in its private zone, for the same address."""
    prefix = shown.get("dnsPrefix") or shown.get("fqdnSubdomain") or request.name
    fqdn = str(before.get("fqdn") or f"{prefix}-{digits}.hcp.{region}.azmk8s.io")
    portal = f"{prefix}-{digits}.portal.hcp.{region}.azmk8s.io"
    access = shown.get("apiServerAccessProfile") or {}
    if not access.get("enablePrivateCluster"):
        return {"fqdn": fqdn, "azurePortalFQDN": portal}
    zone = uuid.uuid5(uuid.NAMESPACE_DNS, request.id)
    kind = "Microsoft.ContainerService/managedClusters/privateLinkResources"
    link = {"id": f"{request.id}/privateLinkResources/management", "name": "management", "type": kind}
    whole = {
        "privateDNSZone": "system", "enablePrivateClusterPublicFQDN": True, "privateClusterVersion": "v1", **access
    }  # fmt: skip
    return {
        **({"fqdn": fqdn} if whole["enablePrivateClusterPublicFQDN"] else {}),
        "azurePortalFQDN": f"{zone.hex}-priv.portal.hcp.{region}.azmk8s.io",
        "privateFQDN": f"{prefix}-{zone.hex[:8]}.{zone}.privatelink.{region}.azmk8s.io",
        "privateLinkResources": [{**link, "groupId": "management", "requiredMembers": ["management"]}],
        "apiServerAccessProfile": whole,
    }


def _network(given: Mapping[str, Any], machines: str, unique: str) -> dict[str, Any]:
    """The network profile; with a load balancer as the way out, its address is among the machines."""
    profile = cluster_rules.network_profile(given)
    if profile["outboundType"] != "loadBalancer":
        return profile
    address = f"{machines}/Microsoft.Network/publicIPAddresses/{uuid.uuid5(uuid.NAMESPACE_URL, unique)}"
    balancer = {
        "managedOutboundIPs": {"count": 1},
        "effectiveOutboundIPs": [{"id": address}],
        "backendPoolType": "nodeIPConfiguration",
    }
    return {"loadBalancerProfile": balancer, **profile}


def _directory(cloud: Cloud, profile: Mapping[str, Any]) -> dict[str, Any]:
    return {"adminGroupObjectIDs": [], "tenantID": cloud.subscription.tenant_id, **profile}


def _inline(cloud: Cloud, request: Request, pool: Mapping[str, Any], cluster: Mapping[str, Any]) -> dict[str, Any]:
    current = cloud.store.get(f"{request.id}/agentPools/{pool['name']}")
    before = current.outputs if current else {}
    kept = {key: before[key] for key in pool_defaults.KEPT if key in before}
    return {**pool_defaults.defaults(cloud, {**kept, **pool}, cluster, before), "eTag": str(uuid.uuid4())}


def _identity(cloud: Cloud, identity: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    assigned = {}
    for identity_id in identity.get("userAssignedIdentities") or []:
        if record := find_identity(cloud, identity_id):
            assigned[identity_id] = record
    own = {"principalId": before.get("principalId") or str(uuid.uuid4()), "tenantId": cloud.subscription.tenant_id}
    system = own if identity.get("type") == "SystemAssigned" else {}
    return {**identity, **system, **({"userAssignedIdentities": assigned} if assigned else {})}


def _kubelet_identity(cluster: str) -> dict[str, Any]:
    made = {"clientId": str(uuid.uuid4()), "objectId": str(uuid.uuid4()), "resourceId": f"{cluster}-agentpool"}
    return {"kubeletidentity": made}


def _issuer(
    cloud: Cloud, shown: Mapping[str, Any], before: Mapping[str, Any], version: str, unique: str
) -> dict[str, Any]:
    """The OIDC issuer: as requested, as it was, or by the version of a new cluster."""
    newer = version_key(version)[:2] >= version_key(_ISSUER_FROM)
    profile = shown.get("oidcIssuerProfile") or before.get("oidcIssuerProfile") or {"enabled": newer}
    if not profile.get("enabled"):
        return {"enabled": False}
    issuer = uuid.uuid5(uuid.NAMESPACE_URL, unique)
    url = f"https://{shown['location']}.oic.prod-aks.azure.com/{cloud.subscription.tenant_id}/{issuer}/"
    return {"enabled": True, "issuerURL": url}
