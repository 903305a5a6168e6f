"""Azure's requirements for a managed cluster, without its pools: identity, version, DNS prefix, address ranges."""

import ipaddress
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from rehearsal.azure import naming
from rehearsal.azure.cloud import Cloud
from rehearsal.azure.errors import AzureError, refused
from rehearsal.azure.kinds import Request
from rehearsal.azure.resources import pool_defaults, version_rules
from rehearsal.azure.resources.groups import located
from rehearsal.azure.resources.identities import find_identity
from rehearsal.azure.resources.networks import parse_prefix, subnets_of
from rehearsal.azure.resources.pool_rules import require_version
from rehearsal.azure.subscription import version_key

_ARM_TYPE: Final = "Microsoft.ContainerService/managedClusters"
_DNS_PREFIX: Final = r"^[a-zA-Z0-9]([a-zA-Z0-9-]{0,52}[a-zA-Z0-9])?$"
"""AKS REST API and portal: 1 to 54 letters, digits and hyphens, not at the ends."""
_LONGEST_NODE_GROUP: Final = 80
"""Characters of the name of a node resource group, whether Azure or a user chose it. Source: AKS's own refusal,
below.
"""


def network_profile(given: Mapping[str, Any]) -> dict[str, Any]:
    """A network profile with AKS's defaults."""
    plugin = given.get("networkPlugin", "azure")
    overlay = "networkPlugin" not in given or given.get("networkPluginMode") == "overlay"
    filled = {
        "networkPlugin": plugin,
        "serviceCidr": "10.0.0.0/16",
        "dnsServiceIP": "10.0.0.10",
        **({"podCidr": "10.244.0.0/16"} if overlay or plugin == "kubenet" else {}),
        **({"networkPluginMode": "overlay"} if overlay else {}),
        **({"networkDataplane": "azure", "networkPolicy": "none"} if plugin == "azure" else {}),
        "loadBalancerSku": "standard",
        "outboundType": "loadBalancer",
        "ipFamilies": ["IPv4"],
        **given,
    }
    ranges = {f"{key}s": [filled[key]] for key in ("podCidr", "serviceCidr") if filled.get(key)}
    return {**ranges, **filled}


def require_cluster(cloud: Cloud, request: Request) -> None:
    """Refuse a cluster whose group, region, prefix, identity or version Azure does not have."""
    located(cloud, request, _ARM_TYPE)
    inputs = request.inputs
    prefix = inputs.get("dnsPrefix")
    if not prefix and not inputs.get("fqdnSubdomain"):
        raise refused("no-dns-prefix")
    if prefix and not re.match(_DNS_PREFIX, str(prefix)):
        raise refused("dns-prefix", prefix=prefix)
    _require_identity(cloud, request)
    version = str(inputs.get("kubernetesVersion") or cloud.subscription.default_kubernetes_version)
    require_version(cloud, f"Managed cluster {request.name}", version, inputs)
    tier = (inputs.get("sku") or {}).get("tier")
    if inputs.get("supportPlan") == "AKSLongTermSupport" and tier != "Premium":
        # Azure, "Long-term support for AKS versions": the plan needs the tier. The words are assumed.
        raise refused("long-term-support-without-premium", tier=tier)


def _require_identity(cloud: Cloud, request: Request) -> None:
    identity = request.inputs.get("identity") or {}
    if not identity and not request.inputs.get("servicePrincipalProfile"):
        raise refused("no-identity", name=request.name)
    for identity_id in identity.get("userAssignedIdentities") or []:
        if find_identity(cloud, identity_id) is None:
            raise refused("no-such-identity", resource=request.id, identity=identity_id)


def require_node_group(cluster: Mapping[str, Any]) -> None:
    """Refuse a node resource group whose name is too long.

    Source of the words: an error of AKS that users of Cluster API recorded (rancher/rancher-turtles, its end-to-end
    tests, read 2026-11-23).
    """
    name = str(cluster["nodeResourceGroup"])
    if len(name) > _LONGEST_NODE_GROUP:
        raise refused("node-resource-group-too-long", longest=_LONGEST_NODE_GROUP, length=len(name))


def require_system_pool(pools: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a cluster without a system pool, and pools whose names Azure does not take."""
    for index, pool in enumerate(pools):
        for failure in naming.AGENT_POOL.failures(f"agentPoolProfiles[{index}].name", str(pool["name"])):
            raise refused("system-pool-name", path=failure.path, reason=failure.reason)
    if not any(pool["mode"] == "System" for pool in pools):
        raise refused("no-system-pool")


def require_network(cloud: Cloud, cluster: Mapping[str, Any]) -> None:
    """Refuse address ranges that collide with each other or with the network the pools are in."""
    profile = cluster["networkProfile"]
    services = parse_prefix(str(profile["serviceCidr"]), "networkProfile.serviceCidr")
    dns = ipaddress.ip_address(str(profile["dnsServiceIP"]))
    if dns not in services:
        raise refused("dns-outside-the-service-range", dns=dns, services=services)
    if profile.get("podCidr"):
        pods = parse_prefix(str(profile["podCidr"]), "networkProfile.podCidr")
        if pods.overlaps(services):
            raise refused("pods-overlap-services", pods=pods, services=services)
    for pool in cluster["agentPoolProfiles"]:
        subnet = str(pool.get("vnetSubnetID") or "")
        network = cloud.store.get(subnet[: subnet.casefold().rfind("/subnets/")]) if subnet else None
        for _, _, prefixes in subnets_of(cloud, network) if network else ():
            for prefix in prefixes:
                if services.overlaps(parse_prefix(prefix, subnet)):
                    raise refused("services-overlap-the-subnet", services=services, prefix=prefix)


def require_login(cluster: Mapping[str, Any]) -> None:
    """Refuse Azure RBAC without Entra ID or Kubernetes RBAC (Azure, "Use Azure RBAC for Kubernetes authorization").

    Local accounts without Entra ID can be switched off: then no user gets in (terraform-provider-azurerm PR 15489).
    """
    profile = cluster.get("aadProfile") or {}
    if profile.get("enableAzureRBAC") and not (profile.get("managed") and cluster["enableRBAC"]):
        raise refused("azure-rbac-without-entra-id")


def require_unchanged(cloud: Cloud, request: Request) -> None:
    """Refuse a downgrade, a skipped minor version, and one that leaves a pool too far behind."""
    assert request.current
    wanted = str(request.inputs.get("kubernetesVersion") or request.current.outputs["kubernetesVersion"])
    running = str(request.current.outputs["currentKubernetesVersion"])
    target = cloud.subscription.patch_of(wanted) or wanted
    if version_key(target) < version_key(running):
        raise refused("cluster-goes-back", name=request.name, running=running, target=target)
    version_rules.require_next(cloud, running, target, request.inputs)
    pools = [pool.outputs for pool in cloud.store.all(pool_defaults.TYPE, under=request.current.id)]
    version_rules.require_skew(pools, target)


def new_inline_pool() -> AzureError:
    """The refusal of a pool that appears inline in a cluster that exists."""
    return refused("new-inline-pool")
