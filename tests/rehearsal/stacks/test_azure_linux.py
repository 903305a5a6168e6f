"""Azure Linux 3 under NVIDIA's drivers, which are built on the node: no registry lists precompiled ones for it."""

from pathlib import Path

import pytest

from rehearsal.testing.plugin import Rehearse

from .conftest import Stack, copy_of_project

POOLS = [{"name": "hbv4", "vmSize": "Standard_HB176rs_v4", "count": 2, "osSku": "AzureLinux3"}]


@pytest.mark.long
def test_a_pool_on_azure_linux_gets_the_ofed_driver_and_passes(rehearse: Rehearse, tmp_path: Path) -> None:
    stack = Stack(rehearse(copy_of_project(tmp_path / "project"), "dev").rehearsal)
    stack.settings(pools=POOLS)
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    nodes = stack.nodes(agentpool="hbv4")
    assert {node["status"]["nodeInfo"]["osImage"] for node in nodes} == {"Microsoft Azure Linux 3.0"}
    assert [node["status"]["allocatable"]["rdma/shared_ib"] for node in nodes] == ["63"] * 2
    assert stack.verdicts() == {"hbv4": "pass"}
