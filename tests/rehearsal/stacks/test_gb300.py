"""Grace Blackwell: arm64 machines that must not have the feature that all others need."""

import pytest

from tests.rehearsal.conftest import RehearseOurs

POOL = {"name": "gb300", "vmSize": "Standard_ND128isr_GB300_v6", "count": 2}
SNAPSHOT = (
    "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/images/providers"
    "/Microsoft.ContainerService/snapshots/gb"
)
"""Snapshot of a node image with drivers."""


@pytest.mark.field_report("A10", "R2")
def test_grace_blackwell_comes_up_where_the_feature_is_absent(rehearse_ours: RehearseOurs) -> None:
    stack = rehearse_ours("dev")
    stack.settings(pools=[POOL])
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    nodes = stack.nodes(agentpool="gb300")
    assert [node["status"]["nodeInfo"]["architecture"] for node in nodes] == ["arm64"] * 2
    assert {node["status"]["nodeInfo"]["kernelVersion"] for node in nodes} == {"6.14.0-1003-azure-nvidia"}
    assert {node["status"]["nodeInfo"]["containerRuntimeVersion"] for node in nodes} == {"containerd://2.3.2-1"}
    assert [node["status"]["allocatable"]["rdma/shared_ib"] for node in nodes] == ["63"] * 2
    assert [node["status"]["allocatable"]["nvidia.com/gpu"] for node in nodes] == ["4"] * 2
    assert stack.verdicts() == {"gb300": "pass"}
    assert not [step for step in outcome.steps if "Deployment" in step.type], "nothing registers the feature"


@pytest.mark.long
@pytest.mark.field_report("R2")
def test_a_node_image_that_has_drivers_is_told_before_one_is_installed(rehearse_ours: RehearseOurs) -> None:
    stack = rehearse_ours("dev")
    stack.settings(pools=[{**POOL, "nodeImageSnapshotId": SNAPSHOT, "nicDriver": "doca-ofed"}])
    refused = stack.up()
    said = " ".join(refused.said.split())
    assert not refused.succeeded
    assert "no driver was installed, because owners and node image contradict each other" in said
    assert "do: nicDriver: inbox for pool gb300" in said
    assert "do: gpuDriver: image for pool gb300" in said
    # A second driver would have made them NotReady for good.
    ready = [
        c["status"] for n in stack.nodes(agentpool="gb300") for c in n["status"]["conditions"] if c["type"] == "Ready"
    ]
    assert ready == ["True"] * 2

    stack.settings(pools=[{**POOL, "nodeImageSnapshotId": SNAPSHOT, "gpuDriver": "image"}])
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    assert stack.verdicts() == {"gb300": "pass"}
