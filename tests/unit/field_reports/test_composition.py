"""Field reports that only the whole stack can prove: they depend on several components at once."""

import re
from collections.abc import Callable

import pytest
from aks_infiniband import RdmaCluster, SettingsError, load

from declared.pulumi_mocks import Deploy, Deployment
from tests.unit.library.arguments import arguments

POLICY = "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy"


@pytest.fixture
def made(deploy: Deploy) -> Deployment:
    """Two pools of different kinds with prepared nodes."""

    def program() -> None:
        RdmaCluster("rdma", args=arguments("RdmaCluster"))

    return deploy(program)


def waits_for(deployment: Deployment, urn: str) -> set[str]:
    """URNs of all that a resource waits for, directly or not."""
    direct = {resource.urn: set(resource.request.get("dependencies", [])) for resource in deployment.registrations}
    found: set[str] = set()
    todo = [urn]
    while todo:
        new = direct.get(todo.pop(), set()) - found
        found |= new
        todo += new
    return found


def urns(deployment: Deployment, chosen: Callable[[str], bool]) -> set[str]:
    return {
        resource.urn for resource in deployment.registrations if resource.request.get("custom") and chosen(resource.urn)
    }


@pytest.mark.field_report("B15")
def test_kubelets_are_restarted_before_there_is_any_device_plugin(made: Deployment) -> None:
    preparation = urns(made, lambda urn: "index:NodePreparation$" in urn)
    assert preparation
    for kind in ("NicClusterPolicy", "NicNodePolicy"):
        for policy in made.all(f"kubernetes:mellanox.com/v1alpha1:{kind}"):
            assert preparation <= waits_for(made, policy.urn), policy.urn


@pytest.mark.field_report("B18", "D11")
def test_custom_resources_go_before_the_operator_whose_they_are(made: Deployment) -> None:
    (operator,) = urns(made, lambda urn: urn.endswith("helm.sh/v3:Release::rdma-network-operator"))
    theirs = urns(
        made, lambda urn: re.search(r":(Nic\w+Policy|IPPool|IPoIBNetwork|NodeFeatureRule)::", urn) is not None
    )
    assert len(theirs) >= 5
    assert [urn for urn in theirs if operator not in waits_for(made, urn)] == []


@pytest.mark.field_report("D9b")
def test_no_definition_of_a_chart_is_made_beside_the_chart(made: Deployment) -> None:
    assert [resource.urn for resource in made.registrations if "CustomResourceDefinition" in resource.type] == []


@pytest.mark.field_report("D12")
def test_nobody_elses_object_is_changed_but_for_an_annotation_and_nothing_is_forced(made: Deployment) -> None:
    patches = [resource for resource in made.registrations if resource.type.endswith("Patch")]
    assert [resource.type for resource in patches] == ["kubernetes:nvidia.com/v1:ClusterPolicyPatch"], (
        "it is waited for"
    )
    assert [set(resource.inputs) for resource in patches] == [{"apiVersion", "kind", "metadata"}]
    assert [set(resource.inputs["metadata"]) for resource in patches] == [{"name", "annotations"}]
    annotations = [(resource.inputs.get("metadata") or {}).get("annotations") or {} for resource in made.registrations]
    assert not any("pulumi.com/patchForce" in item for item in annotations)


@pytest.mark.field_report("D10b")
def test_a_stack_without_a_cluster_is_refused_so_that_nobody_takes_it_off_by_leaving_it_out() -> None:
    pools = [{"name": "hb", "vmSize": "Standard_HB176rs_v4", "count": 2}]
    with pytest.raises(SettingsError, match="aks-infiniband:cluster"):
        load({"azure-native:location": "southcentralus", "aks-infiniband:pools": pools})


@pytest.mark.field_report("D1", "D2c")
def test_no_pool_but_the_systems_is_in_the_clusters_own_request(made: Deployment) -> None:
    cluster = made.one("azure-native:containerservice:ManagedCluster")
    assert [profile["mode"] for profile in cluster.inputs["agentPoolProfiles"]] == ["System"]
    assert len(made.all("azure-native:containerservice:AgentPool")) == 2


@pytest.mark.field_report("D10")
def test_all_that_lives_in_the_cluster_goes_with_it(made: Deployment) -> None:
    inside = [
        resource
        for resource in made.registrations
        if resource.type.startswith("kubernetes:") and resource.request.get("custom")
    ]
    assert len(inside) > 20
    assert {item.deleted_with for item in inside if not item.request.get("importId")} == {"rdma"}
