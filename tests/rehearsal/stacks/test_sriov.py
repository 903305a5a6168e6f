"""The stack `sriov`: pods that hold HCAs for themselves, and a driver that is changed. The tests follow one another."""

from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.core_v1 import Pod

from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample

from .conftest import Stack

STACK = "sriov"


def driver_images(stack: Stack) -> dict[str, str]:
    """The OFED driver's image on each node."""
    pods = stack.cluster().list(Pod, namespace="network-operator", labels={"nvidia.com/ofed-driver": ""})
    found: list[dict[str, Any]] = [pod.to_dict() for pod in pods]
    return {pod["spec"]["nodeName"]: pod["spec"]["containers"][0]["image"] for pod in found}


@pytest.mark.field_report("B14")
def test_every_hca_can_be_held_by_a_pod_of_its_own(stack: Stack, brought_up: Outcome) -> None:
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool="nda100")]
    assert [(node["rdma/ib"], node["nvidia.com/gpu"]) for node in offered] == [("8", "8")] * 2
    assert all("rdma/shared_ib" not in node for node in offered)


def test_a_pod_that_takes_a_machine_takes_all_its_hcas_and_validation_saw_them(
    stack: Stack, brought_up: Outcome
) -> None:
    pool = stack.outputs()["pools"]["nda100"]
    assert pool["rdmaResource"] == "rdma/ib"
    limits = pool["podTemplate"]["spec"]["containers"][0]["resources"]["limits"]
    assert (limits["rdma/ib"], limits["nvidia.com/gpu"]) == ("8", "8")
    assert pool["validation"]["verdict"] == "pass"


def test_the_sample_job_holds_every_hca_of_every_machine_and_completes(
    stack: Stack, brought_up: Outcome, tmp_path: Path
) -> None:
    sample = completed_sample(stack.rehearsal, "nda100", folder=tmp_path)
    assert len(sample.nodes) == 2
    assert sample.shown.count("4: ACTIVE, 200 Gb/sec (4X HDR)") == 2 * 8


def test_a_second_up_changes_nothing(stack: Stack, brought_up: Outcome) -> None:
    again = stack.up()
    assert again.succeeded, again.said
    assert again.changed == {}


@pytest.mark.field_report("B12")
def test_another_driver_version_is_previewed_in_place_and_reaches_every_node(stack: Stack, brought_up: Outcome) -> None:
    before = driver_images(stack)
    stack.settings(networkOperator={"mode": "sriov", "driverVersion": "doca3.5.0-26.07-0.1.0.0-0"})
    planned = stack.preview()
    policy = {how for what, how in planned.changed.items() if what.startswith("NicClusterPolicy")}
    assert policy == {"update"}
    assert not [what for what in planned.changed if what.startswith(("AgentPool", "Release"))]
    upgraded = stack.up()
    assert upgraded.succeeded, upgraded.said
    after = driver_images(stack)
    assert set(after) == set(before)
    assert all("doca3.5.0-26.07-0.1.0.0-0" in image for image in after.values())
    assert stack.verdicts() == {"nda100": "pass"}, "measured again, with the new driver"


def test_destroy_leaves_no_node(stack: Stack, brought_up: Outcome) -> None:
    destroyed = stack.run("destroy")
    assert destroyed.succeeded, destroyed.said
    assert stack.nodes() == []
