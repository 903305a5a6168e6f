"""The stack `mixed`: three kinds of pool; two differ in driver and device plugin. The tests follow one another."""

from pathlib import Path

import pytest
import yaml
from lightkube.generic_resource import create_global_resource

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.unit.command_line.arm import Arm

from .conftest import AKSS_NAMES, Stack
from .preflighted import up

pytestmark = pytest.mark.long

STACK = "mixed"
NicClusterPolicy = create_global_resource("mellanox.com", "v1alpha1", "NicClusterPolicy", "nicclusterpolicies")
NicNodePolicy = create_global_resource("mellanox.com", "v1alpha1", "NicNodePolicy", "nicnodepolicies")
PLUGINS = {"rdmaSharedDevicePlugin", "sriovDevicePlugin"}


@pytest.fixture(scope="module")
def arm() -> Arm:
    """Azure as it answers the preflight."""
    return Arm()


@pytest.fixture(scope="module")
def brought_up(stack: Stack, arm: Arm, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """The stack, up from nothing after its preflight; its ordinary machines run another kernel than those with
    InfiniBand.
    """
    pools = yaml.safe_load(stack.file.read_text())["config"]["aks-infiniband:pools"]
    stack.settings(pools=[{**pool, "osSku": "Ubuntu2204"} if pool["name"] == "web" else pool for pool in pools])
    arm.used = {}
    outcome = up(stack, arm, tmp_path_factory.mktemp("arm"))
    assert outcome.succeeded, outcome.said
    assert stack.rdma_devices() == AKSS_NAMES
    return outcome


def test_where_the_preflight_fails_up_makes_nothing_and_says_what_to_ask_for(
    stack: Stack, arm: Arm, tmp_path: Path
) -> None:
    arm.used = {"standardNDSH100v5Family": 288}
    refused = up(stack, arm, tmp_path)
    assert not refused.succeeded
    assert "1 of" in refused.errors
    assert "288 of 384 in use in southcentralus: 96 short" in refused.errors
    assert "az quota update" in refused.errors
    assert [step.name for step in refused.steps if step.changed and step.custom] == []


def test_where_the_preflight_passes_up_makes_everything_and_says_what_was_looked_at(
    arm: Arm, brought_up: Outcome
) -> None:
    assert "aks-infiniband:preflight: no check fails" in brought_up.said
    assert "pass         size of ndh100: southcentralus offers Standard_ND96isr_H100_v5" in brought_up.said
    assert any("/usages" in path for path in arm.asked)


def test_each_pool_offers_what_its_mode_gives(stack: Stack, brought_up: Outcome) -> None:
    (gpu,) = {tuple(sorted(node["status"]["allocatable"].items())) for node in stack.nodes(agentpool="ndh100")}
    assert (dict(gpu)["rdma/ib"], dict(gpu)["nvidia.com/gpu"]) == ("8", "8")
    assert "rdma/shared_ib" not in dict(gpu)
    (cpu,) = {node["status"]["allocatable"].get("rdma/shared_ib") for node in stack.nodes(agentpool="hbv3")}
    assert cpu == "63"
    assert stack.verdicts() == {"ndh100": "pass", "hbv3": "pass"}


@pytest.mark.field_report("B9")
def test_what_pools_share_is_in_the_cluster_policy_and_what_differs_in_node_policies(
    stack: Stack, brought_up: Outcome
) -> None:
    (policy,) = [dict(policy)["spec"] for policy in stack.cluster().list(NicClusterPolicy)]
    nodes = [dict(policy)["spec"] for policy in stack.cluster().list(NicNodePolicy)]
    assert "ofedDriver" in policy
    assert not PLUGINS & set(policy)
    assert sorted(plugin for policy in nodes for plugin in PLUGINS & set(policy)) == sorted(PLUGINS)
    assert all("ofedDriver" not in policy for policy in nodes)


@pytest.mark.field_report("B16", "R4")
def test_ordinary_machines_get_nothing_of_infiniband(stack: Stack, brought_up: Outcome) -> None:
    (node,) = stack.nodes(agentpool="web")
    (kernel,) = {item["status"]["nodeInfo"]["kernelVersion"] for item in stack.nodes(agentpool="hbv3")}
    assert node["status"]["nodeInfo"]["kernelVersion"] != kernel
    assert "feature.node.kubernetes.io/pci-15b3.present" not in node["metadata"]["labels"]
    assert not [resource for resource in node["status"]["allocatable"] if resource.startswith("rdma/")]
    assert "network.nvidia.com/operator.mofed.wait" not in node["metadata"]["labels"]
    assert "validation" not in stack.outputs()["pools"].get("web", {})


@pytest.mark.field_report("A2c")
@pytest.mark.parametrize("pool", ["ndh100", "hbv3"])
def test_the_sample_job_of_each_pool_stays_on_it_and_completes(
    stack: Stack, brought_up: Outcome, tmp_path: Path, pool: str
) -> None:
    sample = completed_sample(stack.rehearsal, pool, folder=tmp_path)
    assert sample.nodes == {node["metadata"]["name"] for node in stack.nodes(agentpool=pool)}


def test_a_pool_can_leave_and_everything_else_stays_as_it_is(stack: Stack, brought_up: Outcome) -> None:
    document = yaml.safe_load(stack.file.read_text())
    pools = [pool for pool in document["config"]["aks-infiniband:pools"] if pool["name"] != "web"]
    stack.settings(pools=pools)
    left = stack.up()
    assert left.succeeded, left.said
    assert {what.split()[0] for what in left.changed} <= {"AgentPool", "OrdinaryNodePool"}
    assert stack.nodes(agentpool="web") == []


def test_destroy_leaves_no_node(stack: Stack, brought_up: Outcome) -> None:
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert stack.nodes() == []
