"""A pool with GPUs gets another node image by `aks-infiniband upgrade`: each machine's GPUs are there and measured."""

import pytest

from rehearsal.azure.cloud import NODE_IMAGE_RELEASE
from tests.rehearsal.engine_runs import Outcome

from .conftest import Stack
from .upgrading import holds, images, upgrade

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]
STACK, POOL = "dev", "ndh100"
NODE_IMAGE = ("--node-image", "--pool", POOL)


@pytest.fixture(scope="module")
def newer(stack: Stack, brought_up: Outcome) -> dict[str, str]:
    """The nodes' images; Azure has a newer one."""
    before = images(stack, POOL)
    (stack.rehearsal.run.azure / NODE_IMAGE_RELEASE).write_text("209912.01.0")
    return before


def test_a_gpu_that_is_missing_after_it_stops_the_upgrade_at_the_first_machine(
    stack: Stack, newer: dict[str, str]
) -> None:
    stack.fault("missing-gpu", node="*vmss00000*", gpu=3)
    found = upgrade(stack, *NODE_IMAGE, "--ready-timeout", "120", code=1)["stopped"]
    stack.mend()
    (other,) = found["held"]
    assert any(short.startswith("nvidia.com/gpu 7, expected at least 8") for short in found["shortfalls"]), found
    assert images(stack, POOL)[other] == newer[other]


def test_once_mended_it_goes_on_and_every_machine_is_measured_with_its_gpus(
    stack: Stack, newer: dict[str, str]
) -> None:
    found = upgrade(stack, *NODE_IMAGE)
    assert (found["accepted"], found["done"]) == (True, [f"measured pool {POOL}"])
    assert not set(images(stack, POOL).values()) & set(newer.values())
    assert holds(stack) == []
    offered = [node["status"]["allocatable"] for node in stack.nodes(agentpool=POOL)]
    assert [(node["nvidia.com/gpu"], node["rdma/shared_ib"]) for node in offered] == [("8", "63")] * 2
