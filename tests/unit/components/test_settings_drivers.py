"""GPU drivers have one owner, NIC drivers one source a pool, and neither is requested if it is impossible."""

from typing import Any

import pytest
from aks_infiniband import SIZES
from aks_infiniband.facts.catalog.machine import keeps_gpu_operator_off

from tests.unit.components.stack_files import loaded, pool

GB300 = "Standard_ND128isr_GB300_v6"


@pytest.mark.field_report("R2")
def test_the_node_image_s_driver_is_the_default_where_it_brings_one() -> None:
    def driver(size: str, **sections: Any) -> str:
        (found,) = loaded(pools=[pool(vmSize=size)], **sections).pools
        return found.nic_driver

    assert driver("Standard_ND96isr_H100_v5") == "doca-ofed"
    assert driver("Standard_ND128isr_GB300_v6") == "inbox"
    assert driver("Standard_ND128isr_GB300_v6", networkOperator={"driver": "doca-ofed"}) == "doca-ofed"


def test_whoever_owns_the_driver_of_gb300_brings_the_device_plugin_too_unless_it_is_said() -> None:
    owned = {
        (found.gpu_driver, found.gpu_device_plugin)
        for given in ({}, {"gpuDriver": "image"}, {"gpuDriver": "image", "gpuDevicePlugin": "operator"})
        for found in loaded(pools=[pool(vmSize=GB300, **given)]).pools
    }
    assert owned == {("operator", "operator"), ("image", "image"), ("image", "operator")}


@pytest.mark.parametrize(
    ("owner", "size", "kept_off"),
    [
        ("operator", "Standard_ND96isr_H100_v5", False),
        ("none", "Standard_ND96isr_H100_v5", True),
        ("none", "Standard_HB176rs_v4", False),
        ("none", "Standard_ND96isr_MI300X_v5", False),
        ("none", "Standard_NC16as_T4_v3", True),
        ("none", "Standard_D4s_v5", False),
        ("none", "Standard_NV4as_v4", False),
    ],
)
def test_pools_whose_gpus_the_operator_must_not_touch_are_told_apart(owner: Any, size: str, kept_off: bool) -> None:
    assert keeps_gpu_operator_off(owner, SIZES.get(size), size) is kept_off


@pytest.mark.parametrize(
    ("given", "way"),
    [
        ({}, False),
        ({"gpuDirect": "nvidia-peermem"}, False),
        ({"gpuDirect": "dmabuf"}, True),
        ({"gpuDirect": "auto"}, True),
        ({"gpuDirect": "auto", "vmSize": "Standard_ND40rs_v2"}, False),
        ({"nicDriver": "inbox"}, True),
    ],
)
def test_hcas_reach_gpus_by_dma_buf_where_it_is_asked_for_and_there(given: dict[str, str], way: bool) -> None:
    (resolved,) = loaded(pools=[pool(**given)]).pools
    assert resolved.dma_buf is way
