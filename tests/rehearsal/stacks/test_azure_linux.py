"""Azure Linux 3 under NVIDIA's drivers, which are built on the node: no registry lists precompiled ones for it."""

import pytest

from tests.rehearsal.conftest import RehearseOurs

POOLS = [{"name": "hbv4", "vmSize": "Standard_HB176rs_v4", "count": 2, "osSku": "AzureLinux3"}]


@pytest.mark.long
def test_a_pool_on_azure_linux_gets_the_ofed_driver_and_passes(rehearse_ours: RehearseOurs) -> None:
    stack = rehearse_ours("dev")
    stack.settings(pools=POOLS)
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    nodes = stack.nodes(agentpool="hbv4")
    assert {node["status"]["nodeInfo"]["osImage"] for node in nodes} == {"Microsoft Azure Linux 3.0"}
    assert [node["status"]["allocatable"]["rdma/shared_ib"] for node in nodes] == ["63"] * 2
    assert stack.verdicts() == {"hbv4": "pass"}
