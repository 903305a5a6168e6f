"""The cluster, its network and its identity: the requests to Azure."""

import json
from ipaddress import IPv4Network
from typing import Any

import pulumi
import pytest
from aks_infiniband import ApiServer, ClusterNetwork, SystemPool

from declared.pulumi_mocks import Deploy
from tests.unit.components.azure_programs import ASSIGNMENT, CLUSTER, IDENTITY, NETWORK, SUBNET, cluster

OTHERS = "/subscriptions/00000000-0000-0000-0000-0000000000bb/resourceGroups/network/providers"
NODES = f"{OTHERS}/Microsoft.Network/virtualNetworks/hub/subnets/nodes"
PODS = f"{OTHERS}/Microsoft.Network/virtualNetworks/hub/subnets/pods"
THEIRS = f"{OTHERS}/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
PRINCIPAL = {"getUserAssignedIdentity": {"id": THEIRS, "name": "aks", "principalId": "their-principal"}}


@pytest.mark.field_report("D1", "D2c")
def test_only_the_system_pool_is_inline_and_later_changes_of_inline_pools_are_left_alone(deploy: Deploy) -> None:
    made = deploy(lambda: cluster(system_pool=SystemPool(count=3)).cluster_name).one(CLUSTER)
    (profile,) = made.inputs["agentPoolProfiles"]
    assert (profile["name"], profile["mode"], profile["count"]) == ("system", "System", 3)
    assert made.request["ignoreChanges"] == ["agentPoolProfiles"]


def test_a_change_of_the_system_pool_is_left_alone_with_a_warning_that_says_what_to_do(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, **_: warnings.append(text))
    system = {"name": "system", "vmSize": "standard_d8s_v5", "count": 2}
    there = {"agentPoolProfiles": [{"name": "ndh100", "count": 9}, system]}

    deploy(lambda: cluster().managed_cluster.agent_pool_profiles, outputs={CLUSTER: there})
    assert warnings == [], "the settings are what there is"

    args = {"system_pool": SystemPool(count=3)}
    deploy(lambda: cluster(**args).managed_cluster.agent_pool_profiles, outputs={CLUSTER: there})
    (warning,) = warnings
    assert "systemPool.count is 3, and in Azure 2" in warning
    assert "az aks nodepool scale --name system" in warning


def test_a_dns_prefix_that_is_cut_ends_in_no_dash(deploy: Deploy) -> None:
    made = deploy(lambda: cluster(cluster_name="a" * 53 + "-b").cluster_name).one(CLUSTER)
    assert made.inputs["dnsPrefix"] == "a" * 53


def test_the_cluster_has_an_overlay_network_workload_identity_and_no_unasked_upgrades(deploy: Deploy) -> None:
    inputs = deploy(lambda: cluster().cluster_name).one(CLUSTER).inputs
    network = inputs["networkProfile"]
    assert (network["networkPlugin"], network["networkPluginMode"]) == ("azure", "overlay")
    assert (network["podCidr"], network["outboundType"]) == ("10.244.0.0/16", "loadBalancer")
    assert (network["serviceCidr"], network["dnsServiceIP"]) == ("10.0.0.0/16", "10.0.0.10")
    assert network["loadBalancerSku"] == "standard"
    assert inputs["oidcIssuerProfile"] == {"enabled": True}
    assert inputs["securityProfile"] == {"workloadIdentity": {"enabled": True}}
    assert inputs["autoUpgradeProfile"] == {"upgradeChannel": "none", "nodeOSUpgradeChannel": "None"}
    assert "aadProfile" not in inputs
    assert inputs["disableLocalAccounts"] is False


def test_the_oidc_issuer_is_an_output_for_federated_credentials(deploy: Deploy) -> None:
    there = {"oidcIssuerProfile": {"enabled": True, "issuerURL": "https://issuer.example/"}}
    assert deploy(lambda: cluster().oidc_issuer_url, outputs={CLUSTER: there}).result == "https://issuer.example/"


def test_existing_subnets_are_used_as_they_are_and_no_network_is_made(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES, outbound_type="userDefinedRouting")
    deployment = deploy(lambda: cluster(network=settings).subnet_id)
    assert deployment.result == NODES
    assert deployment.all(NETWORK) == deployment.all(SUBNET) == []
    inputs = deployment.one(CLUSTER).inputs
    assert inputs["agentPoolProfiles"][0]["vnetSubnetID"] == NODES
    assert inputs["networkProfile"]["outboundType"] == "userDefinedRouting"
    assert inputs["networkProfile"]["networkPluginMode"] == "overlay"


def test_nodes_without_a_way_out_start_from_a_cache(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES, outbound_type="none")
    inputs = deploy(lambda: cluster(network=settings).cluster_name).one(CLUSTER).inputs
    assert inputs["networkProfile"]["outboundType"] == "none"
    assert inputs["bootstrapProfile"] == {"artifactSource": "Cache"}
    assert "bootstrapProfile" not in deploy(lambda: cluster().cluster_name).one(CLUSTER).inputs


def test_a_subnet_for_the_pods_takes_the_overlays_place(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES, pod_subnet_id=PODS)
    deployment = deploy(lambda: cluster(network=settings).pod_subnet_id)
    assert deployment.result == PODS
    inputs = deployment.one(CLUSTER).inputs
    assert inputs["agentPoolProfiles"][0]["podSubnetID"] == PODS
    assert inputs["networkProfile"]["networkPlugin"] == "azure"
    assert not {"networkPluginMode", "podCidr"} & inputs["networkProfile"].keys()


def test_a_private_cluster_has_no_public_ranges_and_becoming_one_replaces_it(deploy: Deploy) -> None:
    made = deploy(lambda: cluster(api_server=ApiServer(private=True)).cluster_name).one(CLUSTER)
    assert made.inputs["apiServerAccessProfile"] == {"enablePrivateCluster": True}
    assert made.request["replaceOnChanges"] == ["apiServerAccessProfile.enablePrivateCluster"]
    assert made.request["deleteBeforeReplace"] is True, "its name is taken"


def test_authorized_ranges_are_always_said_so_that_none_takes_old_ones_away(deploy: Deploy) -> None:
    ranges = ApiServer(authorized_ip_ranges=(IPv4Network("20.1.0.0/16"),))
    inputs = deploy(lambda: cluster(api_server=ranges).cluster_name).one(CLUSTER).inputs
    assert inputs["apiServerAccessProfile"] == {"enablePrivateCluster": False, "authorizedIPRanges": ["20.1.0.0/16"]}
    inputs = deploy(lambda: cluster().cluster_name).one(CLUSTER).inputs
    assert inputs["apiServerAccessProfile"] == {"enablePrivateCluster": False, "authorizedIPRanges": []}


def test_the_cluster_waits_for_its_identitys_role_on_the_subnet(deploy: Deploy) -> None:
    deployment = deploy(lambda: cluster().cluster_name)
    assignment = deployment.one(ASSIGNMENT)
    assert assignment.urn in deployment.one(CLUSTER).request["dependencies"]
    assert assignment.inputs["principalType"] == "ServicePrincipal"
    assert assignment.inputs["roleDefinitionId"].endswith("roleDefinitions/4d97b98b-1d4f-4787-a291-c67834d212e7")


def test_a_new_identity_gets_its_role_on_existing_subnets_in_their_subscription(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES, pod_subnet_id=PODS)
    deployment = deploy(lambda: cluster(network=settings).cluster_name)
    assignments = deployment.all(ASSIGNMENT)
    assert {resource.inputs["scope"] for resource in assignments} == {NODES, PODS}
    assert {resource.inputs["principalId"] for resource in assignments} == {"principal"}
    assert all(
        "00000000-0000-0000-0000-0000000000bb" in resource.inputs["roleDefinitionId"] for resource in assignments
    )
    assert {resource.urn for resource in assignments} <= set(deployment.one(CLUSTER).request["dependencies"])


def test_an_existing_identity_on_existing_subnets_is_left_as_it_is(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES)
    deployment = deploy(lambda: cluster(network=settings, identity_id=THEIRS).cluster_name)
    assert deployment.all(ASSIGNMENT) == deployment.all(IDENTITY) == []
    assert deployment.one(CLUSTER).inputs["identity"]["userAssignedIdentities"] == [THEIRS]


def test_an_existing_identity_gets_its_role_on_a_subnet_that_nobody_can_have_given_it_before(deploy: Deploy) -> None:
    deployment = deploy(lambda: cluster(identity_id=THEIRS).cluster_name, answers=PRINCIPAL)
    assert deployment.all(IDENTITY) == []
    assignment = deployment.one(ASSIGNMENT)
    assert assignment.inputs["principalId"] == "their-principal"
    assert assignment.urn in deployment.one(CLUSTER).request["dependencies"]


def test_the_role_assignments_name_is_the_same_every_time_and_follows_the_identity(deploy: Deploy) -> None:
    def name_for(principal: Any) -> Any:
        answers = {IDENTITY: {"principalId": principal}}
        assignment = deploy(lambda: cluster().cluster_name, outputs=answers).one(ASSIGNMENT)
        return assignment.inputs["roleAssignmentName"]

    assert name_for("one") == name_for("one")
    assert name_for("one") != name_for("another")


@pytest.mark.field_report("D15")
def test_cluster_and_every_other_resource_have_limits_and_the_hook_of_azure(deploy: Deploy) -> None:
    deployment = deploy(lambda: cluster().cluster_name)
    assert {"create", "update", "delete"} <= set(deployment.one(CLUSTER).request["customTimeouts"])
    without = [
        resource.type
        for resource in deployment.registrations
        if resource.type.startswith("azure-native:")
        and resource.request.get("hooks") != {"onError": ["aks-infiniband-azure-operation"]}
    ]
    assert without == []


def test_everything_of_the_cluster_takes_on_what_the_component_waits_for(deploy: Deploy) -> None:
    def program() -> Any:
        first = pulumi.ComponentResource("test:index:First", "first")
        gate = cluster("gate").managed_cluster
        del first
        return cluster("rdma", opts=pulumi.ResourceOptions(depends_on=[gate])).cluster_name

    deployment = deploy(program)
    mine = [resource for resource in deployment.registrations if resource.parent == "rdma"]
    assert mine
    assert all("gate" in item.dependencies for item in mine), json.dumps([item.name for item in mine])
