"""Grace Blackwell: arm64 machines that must not have the feature that all others need."""

import pytest

from rehearsal.control_plane import RunFolder
from rehearsal.session import Rehearsal

from .conftest import SPEED, Stack, copy_of_project

POOLS = [{"name": "gb300", "vmSize": "Standard_ND128isr_GB300_v6", "count": 2}]


@pytest.mark.field_report("A10", "R2")
def test_grace_blackwell_comes_up_where_the_feature_is_absent(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("gb300")
    rehearsal = Rehearsal(
        project=copy_of_project(folder / "project"), stack="dev", run=RunFolder.at(folder / "run"), speed=SPEED
    )
    stack = Stack(rehearsal)
    stack.settings(pools=POOLS)
    with rehearsal.data_centre():
        outcome = stack.up()
        assert outcome.succeeded, outcome.said
        nodes = stack.nodes(agentpool="gb300")
        assert [node["status"]["nodeInfo"]["architecture"] for node in nodes] == ["arm64"] * 2
        assert {node["status"]["nodeInfo"]["kernelVersion"] for node in nodes} == {"6.14.0-1003-azure-nvidia"}
        assert [node["status"]["allocatable"]["rdma/shared_ib"] for node in nodes] == ["63"] * 2
        assert stack.verdicts() == {"gb300": "pass"}
        assert not [step for step in outcome.steps if "Deployment" in step.type], "nothing registers the feature"
