"""In a cluster that others keep, pools that AKS manages itself are refused before anything is made there."""

import pulumi
import pytest
from aks_infiniband.facts.managed import managed_of
from aks_infiniband.stack import beforehand
from aks_infiniband_cli.preflight import checks

from declared.pulumi_mocks import Deploy
from tests.unit.components.others_cluster import OthersCluster, listed


@pytest.fixture
def labels(others: OthersCluster) -> dict[str, dict[str, str]]:
    """The labels of two nodes, one of pool a and one outside all pools."""
    nodes: dict[str, dict[str, str]] = {"ours": {"pool": "a"}, "theirs": {}}
    others.answers["/api/v1/nodes"] = listed(*({"name": name, "labels": each} for name, each in nodes.items()))
    return nodes


@pytest.mark.parametrize(
    ("label", "value", "words"),
    [
        ("kubernetes.azure.com/network-dra", "rdma", "AKS's managed DRANET, which owns the network adapters' driver"),
        ("network-dra", "", "AKS's managed DRANET"),
        ("kubernetes.azure.com/dcgm-exporter", "enabled", "AKS's managed GPU, which owns the GPU driver"),
    ],
)
def test_a_pool_that_aks_manages_is_refused_by_name(
    deploy: Deploy, others: OthersCluster, labels: dict[str, dict[str, str]], label: str, value: str, words: str
) -> None:
    labels["ours"][label] = value
    with pytest.raises(pulumi.RunError, match=f"(?s)the nodes of pool ndh100 have {words}.*do: "):
        deploy(others.program())
    (look,) = beforehand.looks(others.kubeconfig, others.stack())
    assert checks.beforehand(look).state == "fail"


def test_what_aks_manages_on_nodes_of_others_is_their_matter(
    others: OthersCluster, labels: dict[str, dict[str, str]]
) -> None:
    labels["theirs"]["kubernetes.azure.com/network-dra"] = "rdma"
    (look,) = beforehand.looks(others.kubeconfig, others.stack())
    assert (checks.beforehand(look).state, look.lacking) == ("pass", [])


def test_a_node_with_an_exporter_of_its_own_is_not_taken_for_aks_s() -> None:
    assert (
        list(managed_of({"kubernetes.azure.com/dcgm-exporter": "disabled", "nvidia.com/gpu.deploy.dcgm": "true"})) == []
    )
