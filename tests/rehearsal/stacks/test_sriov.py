"""The stack `sriov`: pods that hold HCAs for themselves, and a driver that is changed. HCAs reach GPUs by DMA-BUF. The
tests follow one another.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from lightkube.resources.core_v1 import Pod

from rehearsal.faults.machine_faults import FILE
from tests.rehearsal.engine_runs import Outcome
from tests.rehearsal.samples import completed_sample
from tests.rehearsal.waiting import eventually

from .conftest import Stack

STACK = "sriov"


@pytest.fixture(scope="module", autouse=True)
def changed(stack: Stack) -> None:
    pool = {"name": "nda100", "vmSize": "Standard_ND96amsr_A100_v4", "count": 2, "gpuDirect": "auto"}
    stack.settings(pools=[pool])


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


@pytest.mark.field_report("B1c", "B3")
def test_by_dma_buf_no_gpu_driver_waits_for_ofed_and_nccls_log_proves_it(stack: Stack, brought_up: Outcome) -> None:
    drivers = stack.cluster().list(Pod, namespace="gpu-operator", labels={"app": "nvidia-driver-daemonset"})
    names = [[container["name"] for container in pod.to_dict()["spec"]["containers"]] for pod in drivers]
    assert names == [["nvidia-driver-ctr"]] * 2, "no container keeps nvidia-peermem loaded"
    validation = stack.outputs()["pools"]["nda100"]["validation"]
    (transport,) = [check for check in validation["checks"] if check["check"] == "collective-transport"]
    assert (transport["verdict"], transport["measured"]) == ("pass", "InfiniBand with GPUDirect RDMA (DMA-BUF)")


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


def rollout(stack: Stack, *flags: str) -> "subprocess.Popen[str]":
    command = str(Path(sys.executable).with_name("aks-infiniband"))
    where = ("--kubeconfig", str(stack.rehearsal.run.kubeconfig), "--output", "json")
    pipe = subprocess.PIPE
    return subprocess.Popen([command, "rollout", *where, *flags], stdout=pipe, stderr=pipe, text=True)


def stops_on_a_slow_first_node(stack: Stack, before: dict[str, str]) -> None:
    """Another driver makes the first node slow: the other one does not get it until somebody lets it go on."""
    first, other = sorted(before)
    faults = stack.rehearsal.run.root / FILE
    with ThreadPoolExecutor() as pool, rollout(stack, "--first", first) as gate:
        assert gate.stderr is not None
        assert gate.stderr.readline().startswith("Held back: 1 of 2 nodes. Now change")
        faults.write_text(json.dumps([{"fault": "slow", "node": first, "device": "mlx5_3", "factor": 0.5}]))
        updated = pool.submit(stack.run, "up", "--target", "**rdma-nic-*")
        try:
            said, complained = gate.communicate(timeout=400)
            assert gate.returncode == 1, complained
            images = driver_images(stack)
        finally:
            gate.kill()
            faults.unlink()
            with rollout(stack, "--release") as released:
                let_go = json.loads(released.communicate(timeout=60)[0])["released"]
            policy = updated.result()
    assert policy.succeeded, policy.said
    assert [what.split()[0] for what in policy.changed] == ["NicClusterPolicy"]
    found = json.loads(said)
    assert (found["accepted"], found["held"], let_go) == (False, [other], [other])
    assert any(short.startswith("rdma-write-bandwidth: ") and "-50" in short for short in found["shortfalls"])
    assert (images[first], images[other]) == (found["driver"]["now"], found["driver"]["before"])
    eventually(lambda: driver_images(stack) == dict.fromkeys(before, found["driver"]["now"]), seconds=300)


@pytest.mark.field_report("B12")
def test_another_driver_version_stops_on_a_slow_first_node_and_reaches_every_node_when_let_go(
    stack: Stack, brought_up: Outcome
) -> None:
    before = driver_images(stack)
    stack.settings(networkOperator={"mode": "sriov", "driverVersion": "doca3.5.0-26.07-0.1.0.0-0"})
    planned = stack.preview()
    policy = {how for what, how in planned.changed.items() if what.startswith("NicClusterPolicy")}
    assert policy == {"update"}
    assert not [what for what in planned.changed if what.startswith(("AgentPool", "Release"))]
    stops_on_a_slow_first_node(stack, before)
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
