"""In a cluster that others keep, pools that AKS manages itself are refused before anything is made there."""

from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
from aks_infiniband import RdmaCluster, RdmaClusterArgs
from aks_infiniband.facts.managed import managed_of
from aks_infiniband.stack import beforehand
from aks_infiniband_cli.preflight import checks

from declared.pulumi_mocks import Deploy
from tests.unit.components.others_cluster import kubeconfig_of, stack_in


class Server:
    """An API server with one node of pool a, and one outside all pools."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.others: dict[str, str] = {}
        self.kubeconfig = ""

    def answer(self, path: str, *_: Any) -> tuple[int, Any, dict[str, str]]:
        if path != "/api/v1/nodes":
            return 403, {"kind": "Status", "code": 403, "message": "no"}, {}
        items = [
            {"metadata": {"name": "ours", "labels": {"pool": "a", **self.labels}}},
            {"metadata": {"name": "theirs", "labels": self.others}},
        ]
        return 200, {"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items}, {}


@pytest.fixture
def server() -> Iterator[Server]:
    there = Server()
    with kubeconfig_of(there.answer) as there.kubeconfig:
        yield there


@pytest.mark.parametrize(
    ("label", "value", "words"),
    [
        ("kubernetes.azure.com/network-dra", "rdma", "AKS's managed DRANET, which owns the network adapters' driver"),
        ("network-dra", "", "AKS's managed DRANET"),
        ("kubernetes.azure.com/dcgm-exporter", "enabled", "AKS's managed GPU, which owns the GPU driver"),
    ],
)
def test_a_pool_that_aks_manages_is_refused_by_name(
    deploy: Deploy, server: Server, label: str, value: str, words: str
) -> None:
    server.labels = {label: value}
    with pytest.raises(pulumi.RunError, match=f"(?s)the nodes of pool ndh100 have {words}.*do: "):
        deploy(lambda: RdmaCluster("rdma", args=RdmaClusterArgs(stack=stack_in(server.kubeconfig))).cluster_name)
    (look,) = beforehand.looks(server.kubeconfig, stack_in(server.kubeconfig))
    assert checks.beforehand(look).state == "fail"


def test_what_aks_manages_on_nodes_of_others_is_their_matter(server: Server) -> None:
    server.others = {"kubernetes.azure.com/network-dra": "rdma"}
    (look,) = beforehand.looks(server.kubeconfig, stack_in(server.kubeconfig))
    assert (checks.beforehand(look).state, look.lacking) == ("pass", [])


def test_a_node_with_an_exporter_of_its_own_is_not_taken_for_aks_s() -> None:
    assert (
        list(managed_of({"kubernetes.azure.com/dcgm-exporter": "disabled", "nvidia.com/gpu.deploy.dcgm": "true"})) == []
    )
