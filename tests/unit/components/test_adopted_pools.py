"""Node pools of an AKS cluster of others that a stack has taken over: what they may say, and that they are kept."""

from typing import Any

import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.facts.pool import agent_pool_label

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import CLUSTER, FEATURE, POOL
from tests.unit.components.stack_files import NODE_SUBNET, existing, mistakes, pool

AKS = {"resourceGroup": "rdma", "name": "guide", "nodePools": {"ndh100": {}}}


def adopted(*pools: Any, **kept: Any) -> Any:
    """A stack file that has taken over the node pool ndh100. kept: Azure's properties of it in addition to the pool's
    keys.
    """
    found = existing(*(pools or (pool(),)))
    section = {**found["aks-infiniband:existingCluster"], "aks": {**AKS, "nodePools": {"ndh100": kept}}}
    return {**found, "aks-infiniband:existingCluster": section}


def deployed(deploy: Deploy, *pools: Any, **kept: Any) -> Any:
    stack = load(adopted(*pools, **kept))
    return deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack)).cluster_name)


def test_a_pool_that_was_taken_over_is_all_that_is_made_in_azure(deploy: Deploy) -> None:
    deployment = deployed(deploy, subnetId=NODE_SUBNET, tags={"team": "ml"})
    assert deployment.all(CLUSTER) == []
    assert deployment.all(FEATURE) == []
    made = deployment.one(POOL)
    assert made.name == "rdma-ndh100"
    assert made.inputs["resourceName"] == "guide"
    assert made.inputs["resourceGroupName"] == "rdma"
    assert made.inputs["vnetSubnetID"] == NODE_SUBNET
    assert made.inputs["tags"] == {"team": "ml"}
    assert "orchestratorVersion" not in made.inputs, "its cluster's owner upgrades it"


def test_it_is_protected(deploy: Deploy) -> None:
    assert deployed(deploy).one(POOL).request["protect"] is True


def test_its_nodes_are_told_by_their_agent_pool(deploy: Deploy) -> None:
    stack = load(adopted())
    assert stack.pools[0].node_selector == {"kubernetes.azure.com/agentpool": "ndh100"}


def test_it_may_say_what_azure_is_asked_for(deploy: Deploy) -> None:
    made = deployed(deploy, pool(osDiskSizeGb=256, labels={"team": "a"})).one(POOL)
    assert made.inputs["osDiskSizeGB"] == 256
    assert made.inputs["nodeLabels"] == {"team": "a"}


def test_a_pool_of_others_stands_beside_it_and_is_no_resource(deploy: Deploy) -> None:
    theirs = pool(name="hb", vmSize="Standard_HB120rs_v3", nodeSelector=agent_pool_label("hb"))
    assert [found.name for found in deployed(deploy, pool(), theirs).all(POOL)] == ["rdma-ndh100"]


def test_a_pool_without_infiniband_may_be_taken_over() -> None:
    ordinary = pool(name="cpu", vmSize="Standard_D8s_v5", infiniband=False)
    section = adopted(pool(), ordinary)
    section["aks-infiniband:existingCluster"]["aks"]["nodePools"]["cpu"] = {}
    assert load(section).adopted is not None


@pytest.mark.parametrize(
    ("changed", "key", "words"),
    [
        ({"nodeSelector": {"pool": "a"}}, "pools[0].nodeSelector", "names this one: leave it out"),
        ({"name": "other"}, "existingCluster.aks.nodePools.ndh100", "is not a pool of aks-infiniband:pools"),
    ],
)
def test_what_does_not_go_with_it_is_refused(changed: Any, key: str, words: str) -> None:
    assert words in mistakes(adopted(pool(**changed)))[key]
