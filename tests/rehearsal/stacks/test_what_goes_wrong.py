"""Faults of the field happen here, and the rehearsal says why. The tests follow one another."""

import re
from pathlib import Path

import pytest
import yaml

from rehearsal.azure.subscription import DEFAULT_FILE
from tests.rehearsal.conftest import RehearseOurs

from .conftest import Stack

STACK = "dev"
WRONG_VENDOR = '''
"""The project's program, with a device plugin that looks for another vendor's adapters.

Its Job is given up 20 s after the last thing that happened to its pods: they never start.
"""

import json

import pulumi


def wrong_vendor(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    if args.type_ == "kubernetes:batch/v1:Job":
        args.props["metadata"]["annotations"]["pulumi.com/timeoutSeconds"] = "20"
        return pulumi.ResourceTransformResult(props=args.props, opts=args.opts)
    if args.type_ != "kubernetes:mellanox.com/v1alpha1:NicClusterPolicy":
        return None
    plugin = args.props["spec"]["rdmaSharedDevicePlugin"]
    plugin["config"] = plugin["config"].replace("15b3", "15b4")
    return pulumi.ResourceTransformResult(props=args.props, opts=args.opts)


pulumi.runtime.register_resource_transform(wrong_vendor)
'''


def put_before_program(stack: Stack, text: str) -> None:
    program = stack.rehearsal.project / "__main__.py"
    body = program.read_text()
    program.write_text(text + body.split('"""', 2)[2])


@pytest.mark.field_report("A3")
def test_a_size_beyond_the_quota_is_refused_before_the_pool_is_made_with_the_exact_shortfall(
    rehearse_ours: RehearseOurs, tmp_path: Path
) -> None:
    subscription = yaml.safe_load(DEFAULT_FILE.read_text())
    subscription["series"]["ND_H100_v5"]["vcpus"] = 96
    file = tmp_path / "subscription.yaml"
    file.write_text(yaml.safe_dump(subscription))
    small = rehearse_ours("dev", subscription=file)
    outcome = small.up()
    assert not outcome.succeeded
    assert "QuotaExceeded" in outcome.said
    assert "192" in outcome.said
    assert small.nodes(agentpool="ndh100") == []


@pytest.mark.field_report("B5")
def test_a_wrong_selector_leaves_pods_pending_and_the_failed_wait_names_pods_nodes_and_resource(stack: Stack) -> None:
    program = stack.rehearsal.project / "__main__.py"
    sound = program.read_text()
    put_before_program(stack, WRONG_VENDOR)
    outcome = stack.up()
    program.write_text(sound)
    assert not outcome.succeeded
    nodes = stack.nodes(agentpool="ndh100")
    assert len(nodes) == 2, outcome.said
    for node in nodes:
        assert node["metadata"]["name"] in outcome.said
    pending = re.findall(r"pod aks-infiniband-system/(ndh100-validate-\S+) is Pending: .*rdma/shared_ib", outcome.said)
    assert len(set(pending)) == 2, outcome.said
    assert "rdma/shared_ib (asks for 1) is missing on " in outcome.said


def test_once_the_selector_is_right_a_link_that_is_down_fails_the_update_with_its_node_and_device(stack: Stack) -> None:
    stack.fault("link-down", node="*000001", device="mlx5_3")
    stack.settings(validation={"timeoutSeconds": 120})
    outcome = stack.up()
    assert not outcome.succeeded
    assert re.search(r"hca-state +aks-ndh100-\d+-vmss000001 +ACTIVE +DOWN\n +\(mlx5_3\)", outcome.said), outcome.said
    assert not re.search(r"hca-state +aks-ndh100-\d+-vmss000000", outcome.said)


def test_once_everything_is_mended_the_pool_passes(stack: Stack) -> None:
    stack.mend()
    mended = stack.up()
    assert mended.succeeded, mended.said
    assert stack.verdicts() == {"ndh100": "pass"}
