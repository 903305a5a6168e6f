"""GPU drivers have one owner, NIC drivers one source a pool, and neither is requested if it is impossible."""

from typing import Any

import pytest
from aks_infiniband import SIZES
from aks_infiniband.facts.catalog.machine import keeps_gpu_operator_off

from tests.unit.components.stack_files import changed, loaded, mistakes, named, pool

GB300 = "Standard_ND128isr_GB300_v6"


def owners(*pools: Any) -> list[str]:
    return [found.gpu_driver for found in loaded(pools=list(pools)).pools]


@pytest.mark.parametrize(
    ("size", "owner"),
    [
        ("Standard_ND96isr_H200_v5", "operator"),
        ("Standard_HB176rs_v4", "none"),
        ("Standard_HC44rs", "none"),
        ("Standard_HX176rs", "none"),
        ("Standard_ND96isr_MI300X_v5", "none"),
        ("Standard_ND128isr_NDR_GB200_v6", "operator"),
    ],
)
def test_the_owner_of_the_gpu_driver_follows_from_the_size(size: str, owner: str) -> None:
    assert owners(pool(vmSize=size)) == [owner]


@pytest.mark.field_report("A4")
@pytest.mark.parametrize("pair", [("operator", "aks"), ("aks", "operator"), ("aks", None), (None, "aks")])
def test_two_owners_of_gpu_drivers_in_one_cluster_are_refused(pair: Any) -> None:
    given = [{"gpuDriver": owner} if owner else {} for owner in pair]
    found = mistakes(changed(pools=[pool(**given[0]), named("a", "Standard_ND96asr_v4", **given[1])]))
    assert list(found) == ["pools[1].gpuDriver"]
    assert "as pool ndh100 has it: a cluster has one owner of GPU drivers" in found["pools[1].gpuDriver"]


def test_none_stands_beside_either_owner() -> None:
    assert owners(pool(gpuDriver="aks"), pool(name="b", gpuDriver="none")) == ["aks", "none"]
    assert owners(pool(), named("hb", "Standard_HB176rs_v4")) == ["operator", "none"]


@pytest.mark.field_report("R2")
def test_the_node_image_s_driver_is_the_default_where_it_brings_one() -> None:
    def driver(size: str, **sections: Any) -> str:
        (found,) = loaded(pools=[pool(vmSize=size)], **sections).pools
        return found.nic_driver

    assert driver("Standard_ND96isr_H100_v5") == "doca-ofed"
    assert driver("Standard_ND128isr_GB300_v6") == "inbox"
    assert driver("Standard_ND128isr_GB300_v6", networkOperator={"driver": "doca-ofed"}) == "doca-ofed"


@pytest.mark.parametrize("owner", ["operator", "aks"])
@pytest.mark.parametrize("size", ["Standard_HC44rs", "Standard_HB120rs_v3", "Standard_HX176rs"])
def test_machines_without_gpus_have_no_owner_of_gpu_drivers(size: str, owner: str) -> None:
    found = mistakes(changed(pools=[pool(vmSize=size, gpuDriver=owner)]))
    assert found == {"pools[0].gpuDriver": f"is {owner!r}; must be none: {size} does not have GPUs; leave it out"}


def test_aks_has_no_driver_for_amds_gpus() -> None:
    found = mistakes(changed(pools=[pool(vmSize="Standard_ND96isr_MI300X_v5", gpuDriver="aks")]))
    assert found == {
        "pools[0].gpuDriver": (
            "is 'aks'; must be operator or image or none for MI300X: AKS lacks a driver for AMD's GPUs"
        )
    }


def test_nvidias_gpus_have_no_driver_of_the_node_image() -> None:
    found = mistakes(changed(pools=[pool(gpuDriver="image")]))
    assert found == {"pools[0].gpuDriver": "is 'image'; must be operator or aks or none for H100"}


def test_owners_of_amds_drivers_stand_beside_nvidias() -> None:
    amd = named("amd", "Standard_ND96isr_MI300X_v5", gpuDriver="image")
    built = named("built", "Standard_ND96isr_MI300X_v5", gpuDriver="operator")
    image = {"driverImage": "myregistry.azurecr.io/amd/amdgpu-kmod"}
    assert owners(pool(gpuDriver="aks"), amd) == ["aks", "image"]
    assert loaded(pools=[pool(), amd, built], amdGpuOperator=image)


@pytest.mark.parametrize(
    ("size", "given", "key", "reason"),
    [
        (GB300, {"gpuDriver": "aks"}, "gpuDriver", "must be operator or image or none for GB300: AKS's own install"),
        (GB300, {"gpuDevicePlugin": "image"}, "gpuDevicePlugin", "must be operator with gpuDriver operator"),
        (GB300, {"gpuDriver": "none", "gpuDevicePlugin": "operator"}, "gpuDevicePlugin", "says nothing"),
    ],
)
def test_an_owner_that_cannot_be_one_is_refused(size: str, given: dict[str, str], key: str, reason: str) -> None:
    found = mistakes(changed(pools=[pool(vmSize=size, **given)]))
    assert list(found) == [f"pools[0].{key}"]
    assert reason in found[f"pools[0].{key}"]


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


def test_operator_owned_pools_share_the_way_to_their_gpus_memory() -> None:
    inbox = pool(name="b", nicDriver="inbox")
    found = mistakes(changed(pools=[pool(), inbox]))
    assert list(found) == ["pools[1].gpuDirect"]
    assert "must be nvidia-peermem, as for pool ndh100" in found["pools[1].gpuDirect"]
    beside = named("hb", "Standard_HB176rs_v4", nicDriver="inbox")
    assert loaded(pools=[pool(), beside])
    assert loaded(pools=[pool(gpuDirect="dmabuf"), inbox])


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


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"gpuDirect": "dmabuf", "vmSize": "Standard_ND40rs_v2"}, "must be nvidia-peermem for V100"),
        ({"gpuDirect": "nvidia-peermem", "nicDriver": "inbox"}, "must be dmabuf with the inbox"),
        ({"gpuDirect": "auto", "gpuDriver": "none"}, "says nothing: the program manages no GPUs of the pool"),
        ({"gpuDirect": "dmabuf", "vmSize": "Standard_HB176rs_v4"}, "says nothing: the program manages no GPUs"),
    ],
)
def test_a_way_to_gpus_that_is_not_there_is_refused(given: dict[str, str], reason: str) -> None:
    found = mistakes(changed(pools=[pool(**given)]))
    assert list(found) == ["pools[0].gpuDirect"]
    assert reason in found["pools[0].gpuDirect"]


def test_open_kernel_modules_that_people_set_apart_from_dma_buf_are_refused_by_their_key() -> None:
    closed = {"values": {"driver": {"kernelModuleType": "proprietary"}}}
    found = mistakes(changed(pools=[pool(gpuDirect="auto")], gpuOperator=closed))
    assert list(found) == ["gpuOperator.values.driver.kernelModuleType"]
    assert loaded(pools=[pool()], gpuOperator=closed)


def test_gpus_without_dma_buf_are_refused_with_the_inbox_driver() -> None:
    found = mistakes(changed(pools=[pool(vmSize="Standard_ND40rs_v2")], networkOperator={"driver": "inbox"}))
    assert list(found) == ["pools[0].nicDriver"]
    assert "must be doca-ofed for V100: the inbox driver reaches GPUs by DMA-BUF" in found["pools[0].nicDriver"]


def test_the_version_of_a_driver_that_nobody_installs_is_refused() -> None:
    cpu = [named("hb", "Standard_HB176rs_v4")]
    gpu_version = mistakes(changed(pools=cpu, gpuOperator={"driverVersion": "580.1"}))
    assert gpu_version == {
        "gpuOperator.driverVersion": "is '580.1'; says nothing: no pool has gpuDriver operator for GPUs of NVIDIA; "
        "leave it out"
    }
    nic_version = mistakes(changed(pools=cpu, networkOperator={"driver": "inbox", "driverVersion": "doca3"}))
    assert nic_version == {
        "networkOperator.driverVersion": "is 'doca3'; says nothing: every pool has the inbox driver; leave it out"
    }
    assert loaded(gpuOperator={"driverVersion": "580.1"}, networkOperator={"driverVersion": "doca3"})


V100 = "Standard_ND40rs_v2"


@pytest.mark.parametrize(
    ("size", "given", "key"),
    [
        (V100, {"chart": {"version": "v26.7.0"}}, "chart.version"),
        (V100, {"chart": {"version": "27.1.0"}}, "chart.version"),
        (V100, {"driverVersion": "595.91.07"}, "driverVersion"),
        (V100, {"values": {"driver": {"version": "595.91.07"}}}, "driverVersion"),
        (V100, {"driverVersion": "580.126.20", "chart": {"version": "v26.7.0"}}, None),
        (V100, {"chart": {"version": "v26.3.3"}}, None),
        ("Standard_ND96asr_v4", {"driverVersion": "595.91.07", "chart": {"version": "v26.7.0"}}, None),
    ],
)
def test_a_driver_without_v100_is_refused_for_a_pool_of_them(size: str, given: dict[str, Any], key: str | None) -> None:
    found = mistakes(changed(pools=[pool(vmSize=size)], gpuOperator=given)) if key else {}
    assert list(found) == ([f"gpuOperator.{key}"] if key else [])
    if key is None:
        assert loaded(pools=[pool(vmSize=size)], gpuOperator=given).operators.gpu
    else:
        assert "give driverVersion of branch 580" in found[f"gpuOperator.{key}"]


def test_azures_own_driver_is_no_matter_of_the_operators_chart() -> None:
    given = {"chart": {"version": "v26.7.0"}}
    assert loaded(pools=[pool(vmSize=V100, gpuDriver="aks")], gpuOperator=given).operators.gpu
