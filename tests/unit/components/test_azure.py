"""The cluster, its network and its identity: the requests to Azure."""

from typing import Any

import pytest
from aks_infiniband import ClusterNetwork, SystemPool

from declared.pulumi_mocks import Deploy
from tests.unit.components.azure_programs import ASSIGNMENT, CLUSTER, IDENTITY, cluster

OTHERS = "/subscriptions/00000000-0000-0000-0000-0000000000bb/resourceGroups/network/providers"
NODES = f"{OTHERS}/Microsoft.Network/virtualNetworks/hub/subnets/nodes"
PODS = f"{OTHERS}/Microsoft.Network/virtualNetworks/hub/subnets/pods"
THEIRS = f"{OTHERS}/Microsoft.ManagedIdentity/userAssignedIdentities/aks"
PRINCIPAL = {"getUserAssignedIdentity": {"id": THEIRS, "name": "aks", "principalId": "their-principal"}}


def test_a_change_of_the_system_pool_is_left_alone_with_a_warning_that_says_what_to_do(
    deploy: Deploy, warnings: list[str]
) -> None:
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


def test_the_oidc_issuer_is_an_output_for_federated_credentials(deploy: Deploy) -> None:
    there = {"oidcIssuerProfile": {"enabled": True, "issuerURL": "https://issuer.example/"}}
    assert deploy(lambda: cluster().oidc_issuer_url, outputs={CLUSTER: there}).result == "https://issuer.example/"


def test_nodes_without_a_way_out_start_from_a_cache(deploy: Deploy) -> None:
    settings = ClusterNetwork(node_subnet_id=NODES, outbound_type="none")
    inputs = deploy(lambda: cluster(network=settings).cluster_name).one(CLUSTER).inputs
    assert inputs["networkProfile"]["outboundType"] == "none"
    assert inputs["bootstrapProfile"] == {"artifactSource": "Cache"}
    assert "bootstrapProfile" not in deploy(lambda: cluster().cluster_name).one(CLUSTER).inputs


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
