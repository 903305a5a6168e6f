"""Networks and ways out of a cluster, some of them made by others, and access to its API server."""

from typing import Any, Final

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, cluster_inputs

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
