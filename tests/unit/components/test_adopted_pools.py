"""Node pools of an AKS cluster of others that a stack has taken over: what they may say, and that they are kept."""

from typing import Any

import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs, load
from aks_infiniband.facts.pool import agent_pool_label

from declared.pulumi_mocks import Deploy
from tests.unit.components.rdma_programs import POOL
from tests.unit.components.stack_files import existing, mistakes, pool

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
