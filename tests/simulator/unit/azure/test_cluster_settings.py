"""Networks and ways out of a cluster, some of them made by others, and access to its API server."""

from typing import Any, Final

import pytest

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, RefusedError, cluster_inputs, pool_inputs

CLUSTER: Final = "containerservice:ManagedCluster"
POOL: Final = "containerservice:AgentPool"
GROUP: Final = "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/network/providers"
SUBNETS: Final = f"{GROUP}/Microsoft.Network/virtualNetworks/hub/subnets"
IDENTITY: Final = f"{GROUP}/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
SYSTEM: Final[dict[str, Any]] = {"name": "system", "mode": "System", "vmSize": "Standard_D8s_v5", "count": 1}
FLAT: Final = {"networkPlugin": "azure"}


def in_subnet(name: str, **changes: Any) -> list[dict[str, Any]]:
    return [{**SYSTEM, "vnetSubnetID": f"{SUBNETS}/{name}", **changes}]


def test_a_cluster_stands_in_somebody_elses_subnet_under_somebody_elses_identity(
    azure: Azure, group: Properties
) -> None:
    cluster = azure.create(
        CLUSTER,
        "aks",
        **cluster_inputs(
            group,
            agentPoolProfiles=in_subnet("nodes"),
            identity={"type": "UserAssigned", "userAssignedIdentities": [IDENTITY]},
        ),
    )
    [node] = azure.machines.nodes.values()
    assert node["status"]["addresses"][0]["address"].startswith("10.100.0.")
    assert cluster["identity"]["userAssignedIdentities"][IDENTITY]["principalId"].startswith("33333333-")
    azure.delete(CLUSTER, "aks", cluster)
    azure.delete("resources:ResourceGroup", "rg", group)
    assert list(azure.cloud.store.all()) == [], "what is somebody else's was never the stack's"


def test_somebody_elses_identity_can_be_read_and_given_a_role(azure: Azure, group: Properties) -> None:
    found = azure.invoke("managedidentity:getUserAssignedIdentity", resourceGroupName="network", resourceName="aks")
    assert (found["id"], found["location"]) == (IDENTITY, "southcentralus")
    role = "4d97b98b-1d4f-4787-a291-c67834d212e7"
    assignment = azure.create(
        "authorization:RoleAssignment",
        "join",
        principalId=found["principalId"],
        principalType="ServicePrincipal",
        scope=f"{SUBNETS}/nodes",
        roleDefinitionId=f"/subscriptions/x/providers/Microsoft.Authorization/roleDefinitions/{role}",
    )
    assert assignment["scope"] == f"{SUBNETS}/nodes"


def test_pods_in_a_subnet_of_their_own_take_no_overlays_addresses(azure: Azure, group: Properties) -> None:
    profiles = in_subnet("nodes", podSubnetID=f"{SUBNETS}/pods")
    azure.create(CLUSTER, "aks", **cluster_inputs(group, networkProfile=FLAT, agentPoolProfiles=profiles))
    [node] = azure.machines.nodes.values()
    assert "podCIDR" not in node["spec"]


def test_a_private_cluster_has_a_private_name_beside_the_public_one(azure: Azure, group: Properties) -> None:
    cluster = azure.create(
        CLUSTER, "aks", **cluster_inputs(group, apiServerAccessProfile={"enablePrivateCluster": True})
    )
    assert cluster["privateFQDN"].endswith(".privatelink.southcentralus.azmk8s.io")
    assert cluster["fqdn"].endswith(".hcp.southcentralus.azmk8s.io")
    with pytest.raises(RefusedError, match=r"PropertyChangeNotAllowed.*enablePrivateCluster"):
        azure.update(CLUSTER, "aks", cluster, apiServerAccessProfile={"enablePrivateCluster": False})


def test_authorized_ranges_change_in_place(azure: Azure, group: Properties) -> None:
    ranges = {"authorizedIPRanges": ["203.0.113.0/24"]}
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group, apiServerAccessProfile=ranges))
    changed = {"authorizedIPRanges": ["203.0.113.0/24", "198.51.100.7/32"]}
    assert azure.update(CLUSTER, "aks", cluster, apiServerAccessProfile=changed)["apiServerAccessProfile"] == changed


@pytest.mark.parametrize(
    ("outbound", "profiles"),
    [
        ("managedNATGateway", [SYSTEM]),
        ("none", in_subnet("nodes")),
        ("userAssignedNATGateway", in_subnet("nodes-nat")),
        ("userDefinedRouting", in_subnet("nodes-routed")),
    ],
)
def test_a_way_out_that_is_prepared_is_taken(
    azure: Azure, group: Properties, outbound: str, profiles: list[dict[str, Any]]
) -> None:
    network = {"networkPlugin": "azure", "networkPluginMode": "overlay", "outboundType": outbound}
    cluster = azure.create(CLUSTER, "aks", **cluster_inputs(group, networkProfile=network, agentPoolProfiles=profiles))
    assert cluster["networkProfile"]["outboundType"] == outbound


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"agentPoolProfiles": in_subnet("none")},
            "InvalidResourceReference.*subnets/none referenced by",
        ),
        ({"agentPoolProfiles": in_subnet("nodes"), "location": "eastus"}, "both resources are in the same region"),
        ({"agentPoolProfiles": in_subnet("nodes", podSubnetID=f"{SUBNETS}/pods")}, "with Azure CNI Overlay"),
        (
            {"networkProfile": FLAT, "agentPoolProfiles": in_subnet("nodes", podSubnetID=f"{SUBNETS}/nodes")},
            "must be different from the node subnet",
        ),
        (
            {"networkProfile": FLAT, "agentPoolProfiles": [{**SYSTEM, "podSubnetID": f"{SUBNETS}/pods"}]},
            "must be in the virtual network of the node subnet",
        ),
        (
            {"identity": {"type": "UserAssigned", "userAssignedIdentities": [f"{IDENTITY}-none"]}},
            "FailedIdentityOperation.*aks-none' was not found",
        ),
        (
            {"networkProfile": {"networkPlugin": "azure", "outboundType": "userDefinedRouting"}},
            "userDefinedRouting can not be combined with AKS managed virtual network",
        ),
        (
            {
                "networkProfile": {"networkPlugin": "azure", "outboundType": "userDefinedRouting"},
                "agentPoolProfiles": in_subnet("nodes"),
            },
            "ExistingRouteTableNotAssociatedWithSubnet",
        ),
        (
            {
                "networkProfile": {"networkPlugin": "azure", "outboundType": "userAssignedNATGateway"},
                "agentPoolProfiles": in_subnet("nodes"),
            },
            "not associated with a NAT gateway",
        ),
        (
            {"apiServerAccessProfile": {"enablePrivateCluster": True, "authorizedIPRanges": ["203.0.113.0/24"]}},
            "Private cluster cannot be enabled with AuthorizedIPRanges",
        ),
        (
            {"apiServerAccessProfile": {"authorizedIPRanges": ["203.0.113.9/24"]}},
            "'203.0.113.9/24' is not an address",
        ),
        (
            {"apiServerAccessProfile": {"authorizedIPRanges": ["0.0.0.0/32", "203.0.113.0/24"]}},
            "0.0.0.0/32 is not allowed with other IP ranges",
        ),
        ({"aadProfile": {"enableAzureRBAC": True}}, "Azure RBAC needs managed Azure AD"),
    ],
)
def test_azure_refuses(azure: Azure, group: Properties, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(RefusedError, match=words):
        azure.create(CLUSTER, "aks", **cluster_inputs(group, **changes))
    assert not azure.machines.nodes


def test_a_pool_in_a_subnet_that_is_not_there_is_refused(azure: Azure, cluster: Properties) -> None:
    with pytest.raises(RefusedError, match="InvalidResourceReference"):
        azure.create(POOL, "hb", **pool_inputs(cluster, vnetSubnetID=f"{SUBNETS}/none"))
