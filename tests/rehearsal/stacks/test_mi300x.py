"""Machines with AMD's GPUs: AMD's operator, RCCL, and what breaks. The tests follow one another."""

import re

import pytest
import yaml
from aks_infiniband.resources.metadata import AMD_GPU_OPERATOR_NAMESPACE, GPU_OPERATOR_NAMESPACE
from lightkube.resources.core_v1 import Pod

from .conftest import Stack

pytestmark = pytest.mark.long
STACK = "mi300x"
POOL = "ndmi300x"
MI300X = {"name": POOL, "vmSize": "Standard_ND96isr_MI300X_v5", "count": 2, "gpuDriver": "operator", "mode": "sriov"}
H100 = {"name": "ndh100", "vmSize": "Standard_ND96isr_H100_v5", "count": 2, "mode": "sriov"}


def nodes_of_pods(stack: Stack, namespace: str, part: str) -> set[str]:
    """The pools on whose nodes pods of a namespace run, of those that are named so."""
    pools = {node["metadata"]["name"]: node["metadata"]["labels"]["agentpool"] for node in stack.nodes()}
    found = [pod.to_dict() for pod in stack.cluster().list(Pod, namespace=namespace)]
    return {pools[pod["spec"]["nodeName"]] for pod in found if part in pod["metadata"]["name"]}


def test_a_driver_that_the_node_image_does_not_bring_is_named(stack: Stack) -> None:
    limits = {"readiness": {"timeoutSeconds": 40}, "validation": {"timeoutSeconds": 60}}  # the Job has both together
    stack.settings(pools=[{**MI300X, "gpuDriver": "image"}], **limits)
    document = yaml.safe_load(stack.file.read_text())
    del document["config"]["aks-infiniband:amdGpuOperator"]
    stack.file.write_text(yaml.safe_dump(document))
    outcome = stack.up()
    assert not outcome.succeeded
    assert "container driver-init runs and is not ready" in outcome.said
    assert "amdgpu driver is not loaded" in outcome.said
    assert "offer less than 8 of amd.com/gpu" in outcome.said


def test_with_the_operators_driver_a_gpu_that_is_missing_is_named_with_its_node(stack: Stack) -> None:
    stack.settings(pools=[MI300X], amdGpuOperator={"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"})
    stack.settings(readiness={"timeoutSeconds": 2700})
    stack.fault("missing-gpu", node="*000001", gpu=3)
    outcome = stack.up()
    assert not outcome.succeeded
    assert re.search(r"node aks-ndmi300x-\d+-vmss000001: amd.com/gpu 7, expected at least 8", outcome.said), (
        outcome.said
    )


def test_sockets_under_rccl_and_a_slow_hca_fail_the_update_with_node_and_device(stack: Stack) -> None:
    stack.mend()
    stack.fault("slow", node="*000000", device="mlx5_2", factor=0.5)
    stack.fault("no-libibverbs", node="*")
    stack.settings(validation={"timeoutSeconds": 240})
    outcome = stack.up()
    assert not outcome.succeeded
    assert re.search(r"fail: rdma-write-bandwidth on aks-ndmi300x-\d+-vmss000000 \(mlx5_2\)", outcome.said), (
        outcome.said
    )
    assert re.search(r"fail: collective-transport on aks-ndmi300x.*measured TCP sockets", outcome.said), outcome.said


def test_once_mended_gpus_are_offered_and_rccl_reaches_them_by_dma_buf(stack: Stack) -> None:
    stack.mend()
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool=POOL)]
    assert [(node["amd.com/gpu"], node["rdma/ib"]) for node in offered] == [("8", "8")] * 2
    assert not any("nvidia.com/gpu" in node for node in offered)
    report = stack.report(POOL)
    assert report["verdict"] == "pass"
    assert report["coverage"]["not_judged"] == ["all-reduce", "all-reduce-small"], "nobody has published a tuned figure"
    ring = report["collective"]["runs"][0]
    assert ring["library"].startswith("RCCL 2.27.7")
    assert ring["transport"] == "InfiniBand with GPUDirect RDMA"
    assert ring["evidence"]["gpu_direct"] == {"DMA-BUF": 16}
    assert 60 < ring["sizes"][-1]["bus_gb_per_s"] < 70


def test_beside_machines_of_nvidias_each_operator_keeps_to_its_own(stack: Stack) -> None:
    stack.settings(pools=[MI300X, H100])
    outcome = stack.up()
    assert outcome.succeeded, outcome.said
    assert stack.verdicts() == {POOL: "pass", "ndh100": "pass"}
    offered = {
        pool: [node["status"]["allocatable"] for node in stack.nodes(agentpool=pool)] for pool in (POOL, "ndh100")
    }
    assert [(node["amd.com/gpu"], "nvidia.com/gpu" in node) for node in offered[POOL]] == [("8", False)] * 2
    assert [(node["nvidia.com/gpu"], "amd.com/gpu" in node) for node in offered["ndh100"]] == [("8", False)] * 2
    assert nodes_of_pods(stack, AMD_GPU_OPERATOR_NAMESPACE, "device-plugin") == {POOL}
    assert nodes_of_pods(stack, GPU_OPERATOR_NAMESPACE, "device-plugin") == {"ndh100"}


def test_a_second_update_changes_nothing_and_nothing_is_left_of_it(stack: Stack) -> None:
    again = stack.preview()
    assert again.succeeded, again.said
    assert not again.changed
    gone = stack.destroy()
    assert gone.succeeded, gone.said
