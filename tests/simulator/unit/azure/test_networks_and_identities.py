"""The simulated Azure's requirements for groups, networks, identities and role assignments."""

from typing import Any

import pytest

from rehearsal.azure.wire import Properties
from tests.simulator.unit.azure.asking import Azure, RefusedError, cluster_inputs

NETWORK = "network:VirtualNetwork"
SUBNET = "network:Subnet"
IDENTITY = "managedidentity:UserAssignedIdentity"
ASSIGNMENT = "authorization:RoleAssignment"
NETWORK_CONTRIBUTOR = "/providers/Microsoft.Authorization/roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7"


@pytest.fixture
def network(azure: Azure, group: Properties) -> Properties:
    space = {"addressPrefixes": ["10.10.0.0/16"]}
    return azure.create(NETWORK, "net", resourceGroupName=group["name"], addressSpace=space)


def subnet_inputs(network: Properties, prefix: str) -> dict[str, Any]:
    group = network["__inputs"]["resourceGroupName"]
    return {"resourceGroupName": group, "virtualNetworkName": network["name"], "addressPrefix": prefix}


def test_a_subnet_with_machines_in_it_cannot_go_and_neither_can_its_network(
    azure: Azure, group: Properties, network: Properties
) -> None:
    subnet = azure.create(SUBNET, "nodes", **subnet_inputs(network, "10.10.0.0/24"))
    system = {"name": "system", "mode": "System", "vmSize": "Standard_D8s_v5", "count": 1, "vnetSubnetID": subnet["id"]}
    profile = {"serviceCidr": "10.96.0.0/16", "dnsServiceIP": "10.96.0.10"}
    wanted = cluster_inputs(group, agentPoolProfiles=[system], networkProfile=profile)
    cluster = azure.create("containerservice:ManagedCluster", "aks", **wanted)
    [node] = azure.machines.nodes.values()
    assert node["status"]["addresses"][0]["address"] == "10.10.0.4"
    for kind, resource in ((SUBNET, subnet), (NETWORK, network)):
        with pytest.raises(RefusedError, match="InUseSubnetCannotBeDeleted"):
            azure.delete(kind, "x", resource)
    azure.delete("containerservice:ManagedCluster", "aks", cluster)
    azure.delete(NETWORK, "net", network)
    assert azure.read(SUBNET, "nodes", subnet["id"]) == {}


def test_names_are_made_as_azure_native_makes_them(azure: Azure, group: Properties, network: Properties) -> None:
    subnet = azure.create(SUBNET, "nodes", **subnet_inputs(network, "10.10.0.0/24"))
    assert (len(group["name"]), len(network["name"]), subnet["name"]) == (10, 11, "nodes")
    inputs, _ = azure.check("resources:ResourceGroup", "rg", {}, olds=group["__inputs"])
    assert inputs == group["__inputs"]  # the next deployment keeps the name
    assert inputs["azureApiVersion"] == "2024-03-01"


def assignment_inputs(principal: str, scope: str) -> dict[str, Any]:
    inputs = {"principalId": principal, "scope": scope, "principalType": "ServicePrincipal"}
    return {**inputs, "roleDefinitionId": NETWORK_CONTRIBUTOR}


def test_an_identity_is_given_a_role_once(azure: Azure, group: Properties) -> None:
    identity = azure.create(IDENTITY, "aks", resourceGroupName=group["name"])
    wanted = assignment_inputs(identity["principalId"], group["id"])
    azure.create(ASSIGNMENT, "join", **wanted)
    with pytest.raises(RefusedError, match="RoleAssignmentExists"):
        azure.create(ASSIGNMENT, "again", **wanted)
