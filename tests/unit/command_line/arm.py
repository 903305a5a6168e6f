"""The answers of Azure Resource Manager, for the rehearsal's simulated subscription.

Bodies have only fields that Azure was recorded to answer (tests/unit/field_recordings/test_arm_bodies_simulated.py);
Kubernetes versions and the subscription itself follow Azure's REST reference.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from aks_infiniband import SIZES
from aks_infiniband_cli.preflight.needs import PROVIDERS

from rehearsal.azure.subscription import Subscription
from tests.simulator.unit.azure.asking import FOUR_MACHINES, SUBSCRIPTION
from tests.unit.command_line.registry import Registry, Reply

CALLER = "77777777-8888-4999-8aaa-bbbbbbbbbbbb"
"""The current user, by the ID in Entra ID."""


_PRICES = {"Standard_D8s_v5": 0.461, "Standard_ND96isr_H100_v5": 98.32}


def _small() -> Subscription:
    """The rehearsal's, with quota for four machines with H100."""
    return SUBSCRIPTION.model_copy(update={"series": FOUR_MACHINES, "regional_vcpus": 4000})


@dataclass
class Arm:
    """The content of the answers.

    used: vCPUs in use by quota; refused: paths, as a pattern, that the caller may not read. cluster: the version of
    Kubernetes of a cluster that is there, and by pool size and number of its machines.
    """

    subscription: Subscription = field(default_factory=_small)
    state: str = "Enabled"
    providers: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PROVIDERS, "Registered"))
    feature: str = "Registered"
    used: dict[str, int] = field(default_factory=dict)
    restrictions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    networks: dict[str, str] = field(default_factory=dict)
    roles: tuple[str, ...] = ("Owner",)
    prices: dict[str, float] = field(default_factory=lambda: dict(_PRICES))
    groups: dict[str, list[str]] = field(default_factory=dict)
    identities: tuple[str, ...] = ()
    cluster: tuple[str, dict[str, tuple[str, int]]] | None = None
    shown: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Azure's further properties of a pool of the cluster."""
    permitted: tuple[str, ...] = ("*",)
    """The actions that the caller may do with a node pool."""
    subnet_roles: list[dict[str, str]] = field(default_factory=list)
    registry: Registry = field(default_factory=Registry)
    refused: str = "^$"
    asked: list[str] = field(default_factory=list)
    filter: str = ""

    def reply(self, path: str, query: str, asked: Mapping[str, str]) -> Reply:
        """To a GET of Azure, or of the registry of images."""
        if path.startswith(("/v2/", "/token")):
            return self.registry.answer(path, query, asked)
        return *self.answer(path, query), {}

    def answer(self, path: str, query: str) -> tuple[int, Any]:
        """Status and body of a GET."""
        self.filter = "".join(parse_qs(query).get("$filter", []))
        self.asked.append(path)
        if re.search(self.refused, path):
            text = "The client does not have authorization to perform action over scope."
            return 403, {"error": {"code": "AuthorizationFailed", "message": text}}
        if path == "/charts/index.yaml":
            return 200, {"entries": {}}
        if path == "/api/retail/prices":
            return 200, self._prices()
        if self.cluster is None and "/managedClusters/" in path:
            return 404, {"error": {"code": "ResourceNotFound", "message": path}}
        for pattern, body in self._routes().items():
            if found := re.fullmatch(f"/subscriptions/{self.subscription.subscription_id}{pattern}", path):
                answer = body(*found.groups())
                return 200, {"value": answer} if isinstance(answer, list) else answer
        return 404, {"error": {"code": "NotFound", "message": path}}

    def _routes(self) -> dict[str, Any]:
        """By the pattern of a path, its body; a list is a page of values."""
        compute, aks = "/providers/Microsoft.Compute", "/providers/Microsoft.ContainerService"
        return {
            "": self._subscription,
            "/providers": self._providers,
            "/providers/Microsoft.Authorization/roleDefinitions": self._role_definitions,
            "/providers/Microsoft.Authorization/roleAssignments": self._role_assignments,
            "/resourcegroups": self._groups,
            "/resourcegroups/([^/]+)/resources": self._resources,
            "/resources": self._identities,
            "/identities/(.+)": lambda principal: {"id": principal, "properties": {"principalId": principal}},
            ".*/subnets/[^/]+/providers/Microsoft.Authorization/roleAssignments": self._subnet_roles,
            ".*/agentPools/([^/]+)/providers/Microsoft.Authorization/permissions": self._permissions,
            "/providers/Microsoft.Features/providers/(.+)/features/(.+)": self._feature,
            f"{compute}/skus": self._skus,
            f"{compute}/locations/(.+)/usages": self._usages,
            f"/resourceGroups/.+{aks}/managedClusters/.+": self._cluster,
            f"{aks}/locations/(.+)/kubernetesVersions": self._versions,
            "/providers/Microsoft.Network/virtualNetworks": self._networks,
            "(/resourceGroups/.+/subnets/.+)": self._subnet,
        }

    def _subscription(self) -> Any:
        own = self.subscription
        name = {"displayName": "rehearsal", "tenantId": own.tenant_id, "state": self.state}
        return {"id": f"/subscriptions/{own.subscription_id}", "subscriptionId": own.subscription_id, **name}

    def _providers(self) -> Any:
        return [{"namespace": name, "registrationState": state} for name, state in self.providers.items()]

    def _feature(self, namespace: str, name: str) -> Any:
        return {"name": f"{namespace}/{name}", "properties": {"state": self.feature}}

    def _role_definitions(self) -> Any:
        """Three built-in roles, as Azure's page of them has them in part."""
        everything, roles = ["*"], ["Microsoft.Authorization/roleAssignments/*", "*/read"]
        exceptions = ["Microsoft.Authorization/*/Write", "Microsoft.Authorization/*/Delete"]
        known = {
            "Owner": {"actions": everything, "notActions": []},
            "Contributor": {"actions": everything, "notActions": exceptions},
            "Role Based Access Control Administrator": {"actions": roles, "notActions": []},
        }
        return [
            {"id": f"/roles/{name}", "properties": {"roleName": name, "permissions": [permission]}}
            for name, permission in known.items()
        ]

    def _role_assignments(self) -> Any:
        """Role assignments of the caller, and one on a resource group alone."""
        assert self.filter == f"assignedTo('{CALLER}')"
        own = f"/subscriptions/{self.subscription.subscription_id}"
        scopes = [(own, role) for role in self.roles] + [(f"{own}/resourceGroups/other", "Owner")]
        return [
            {"id": f"/assignments/{number}", "properties": {"scope": scope, "roleDefinitionId": f"/roles/{role}"}}
            for number, (scope, role) in enumerate(scopes)
        ]

    def _permissions(self, pool: str) -> Any:
        assert self.cluster is not None
        assert pool in self.cluster[1]
        return [{"actions": list(self.permitted), "notActions": []}]

    def _groups(self) -> Any:
        """ManagedBy distinguishes the groups that AKS keeps."""
        return [{"name": name, "location": "southcentralus"} for name in self.groups]

    def _resources(self, group: str) -> Any:
        return [{"id": resource} for resource in self.groups[group]]

    def _identities(self) -> Any:
        assert self.filter == "resourceType eq 'Microsoft.ManagedIdentity/userAssignedIdentities'"
        own = f"/subscriptions/{self.subscription.subscription_id}"
        return [{"id": f"{own}/identities/{principal}"} for principal in self.identities]

    def _subnet_roles(self) -> Any:
        return [
            {"id": f"/assignments/{each['name']}", "name": each["name"], "properties": each}
            for each in self.subnet_roles
        ]

    def _prices(self) -> Any:
        """As Azure's retail prices are: Linux and Windows share a meter, and Spot is a separate meter."""
        name = self.filter.partition("armSkuName eq '")[2].partition("'")[0]
        price = self.prices.get(name)
        rows = [(99.0, "Series Windows", ""), (0.1, "Series", " Spot"), (price, "Series", "")] if price else []
        return {
            "Items": [
                {"retailPrice": value, "productName": product, "meterName": f"{name}{meter}", "currencyCode": "USD"}
                for value, product, meter in rows
            ]
        }

    def _skus(self) -> Any:
        names = (set(SIZES) | set(self.subscription.sizes)) - set(self.without)
        regions = [region for region in self.subscription.regions if self.filter in ("", f"location eq '{region}'")]
        return [self._sku(name, region) for name in sorted(names) for region in regions]

    def _sku(self, name: str, region: str) -> Any:
        size = self.subscription.size(name)
        assert size is not None
        vcpus = SIZES[name].quota_vcpus if name in SIZES else size.vcpus
        return {
            "resourceType": "virtualMachines",
            "name": name,
            "family": self.subscription.series_of(size).family,
            "locations": [region],
            "locationInfo": [{"location": region, "zones": list(self.subscription.regions[region])}],
            "capabilities": [{"name": "vCPUs", "value": str(vcpus)}, {"name": "RdmaEnabled", "value": "True"}],
            "restrictions": self.restrictions.get(name, []),
        }

    def _usages(self, region: str) -> Any:
        assert region in self.subscription.regions
        limits = {series.family: series.vcpus for series in self.subscription.series.values()}
        limits["cores"] = self.subscription.regional_vcpus
        return [
            {"unit": "Count", "limit": limit, "currentValue": self.used.get(name, 0), "name": {"value": name}}
            for name, limit in limits.items()
        ]

    def _versions(self, region: str) -> Any:
        assert region in self.subscription.regions
        both, long = ["KubernetesOfficial", "AKSLongTermSupport"], ["AKSLongTermSupport"]
        plans = dict.fromkeys(self.subscription.kubernetes_versions, both)
        plans |= dict.fromkeys(self.subscription.long_term_support_versions, long)
        return {
            "values": [
                {
                    "version": patch.rpartition(".")[0],
                    "capabilities": {"supportPlan": support},
                    "patchVersions": {patch: {"upgrades": []}},
                }
                for patch, support in plans.items()
            ]
        }

    def _cluster(self) -> Any:
        """Version, and size and number of each pool's machines."""
        assert self.cluster is not None
        version, pools = self.cluster
        profiles = [
            {"name": name, "vmSize": size, "count": count} | self.shown.get(name, {})
            for name, (size, count) in pools.items()
        ]
        shown = {"currentKubernetesVersion": version, "agentPoolProfiles": profiles}
        return {"location": "southcentralus", "properties": shown}

    def _networks(self) -> Any:
        return [
            {"id": name, "properties": {"addressSpace": {"addressPrefixes": [prefix]}}}
            for name, prefix in self.networks.items()
        ]

    def _subnet(self, path: str) -> Any:
        known = self.subscription.existing_subnets[f"/subscriptions/{self.subscription.subscription_id}{path}"]
        used = [{"id": f"nic-{number}"} for number in range(self.used.get("addresses", 0))]
        return {"id": path, "properties": {"addressPrefix": known.address_prefix, "ipConfigurations": used}}
