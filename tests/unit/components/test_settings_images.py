"""An OS SKU or an image that a machine cannot run is refused, and the right OS SKU follows by itself."""

from typing import Any

import pytest

from tests.unit.components.stack_files import changed, cluster, loaded, machines, mistakes, named, pool

GB300 = "Standard_ND128isr_GB300_v6"
MI300X = "Standard_ND96isr_MI300X_v5"
A100 = "Standard_ND96asr_v4"


def long_term(kubernetes: str) -> Any:
    """A cluster of a version that AKS may make with long-term support only."""
    return cluster(kubernetesVersion=kubernetes, supportPlan="AKSLongTermSupport")


def os_sku(*, kubernetes: str = "1.34", **more: Any) -> str:
    return machines(loaded(cluster=long_term(kubernetes), pools=[pool(**more)]))["ndh100"].os_sku


def test_the_os_sku_is_ubuntu_where_nobody_asks_for_another() -> None:
    assert os_sku() == "Ubuntu"
    assert os_sku(kubernetes="1.35", vmSize=GB300) == "Ubuntu"
    assert os_sku(kubernetes="1.35", nicDriver="inbox") == "Ubuntu"
    assert os_sku(osSku="Ubuntu2204") == "Ubuntu2204"
    assert os_sku(vmSize=A100, osSku="AzureLinux3") == "AzureLinux3"


@pytest.mark.parametrize(
    ("kubernetes", "more", "reason"),
    [
        ("1.35", {"vmSize": GB300, "osSku": "Ubuntu2204"}, f"must be Ubuntu, which is 24.04, for {GB300}"),
        ("1.35", {"vmSize": GB300, "osSku": "AzureLinux3"}, "must be Ubuntu for GB300"),
        ("1.35", {"nicDriver": "inbox", "osSku": "Ubuntu2204"}, "must be Ubuntu, which is 24.04, for the inbox driver"),
        ("1.31", {"osSku": "AzureLinux"}, "needs Kubernetes 1.32 to 1.36; the cluster has 1.31"),
        ("1.37", {"osSku": "AzureLinux3"}, "needs Kubernetes 1.28 to 1.36; the cluster has 1.37"),
        ("1.37", {"osSku": "Ubuntu2204"}, "needs Kubernetes 1.36 or older; the cluster has 1.37"),
        ("1.35", {"osSku": "AzureLinux3"}, "must be Ubuntu for H100: of the GPUs that InfiniBand sizes have"),
        ("1.35", {"vmSize": MI300X, "osSku": "AzureLinux"}, "must be Ubuntu for MI300X"),
        ("1.35", {"osSku": "Ubuntu2404"}, "must be 'Ubuntu', 'Ubuntu2204', 'AzureLinux' or 'AzureLinux3'"),
    ],
)
@pytest.mark.field_report("A9")
def test_an_os_sku_that_the_machine_cannot_run_is_refused(kubernetes: str, more: Any, reason: str) -> None:
    found = mistakes(changed(cluster=long_term(kubernetes), pools=[pool(**more)]))
    assert list(found) == ["pools[0].osSku"]
    assert reason in found["pools[0].osSku"]


@pytest.mark.field_report("R11")
def test_plain_ubuntu_is_what_size_and_driver_need_from_kubernetes_1_35_on() -> None:
    assert os_sku(kubernetes="1.35", nicDriver="inbox") == "Ubuntu"
    assert os_sku(kubernetes="1.35", vmSize=GB300) == "Ubuntu"


@pytest.mark.parametrize("more", [{"vmSize": GB300}, {"nicDriver": "inbox"}])
def test_a_cluster_too_old_for_the_system_that_a_pool_needs_is_refused(more: Any) -> None:
    found = mistakes(changed(cluster=long_term("1.34"), pools=[pool(**more)]))
    assert list(found) == ["cluster.kubernetesVersion"]
    assert (
        "must be 1.35 or later, because Ubuntu is 24.04 from there on: pool ndh100 has"
        in found["cluster.kubernetesVersion"]
    )


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"validation": {"image": "example.com/tests:1-amd64"}}, "validation.image"),
        (
            {"networkOperator": {"driver": "doca-ofed", "driverVersion": "doca3.4.1-ubuntu24.04-amd64"}},
            "networkOperator.driverVersion",
        ),
    ],
)
def test_an_image_built_for_another_architecture_is_refused(sections: Any, key: str) -> None:
    found = mistakes(changed(pools=[pool(vmSize=GB300)], **sections))
    assert list(found) == [key]
    assert f"is built for amd64, and pool ndh100 ({GB300}) is arm64" in found[key]
    assert loaded(pools=[named("hb", "Standard_HB176rs_v4")], **sections)


@pytest.mark.parametrize(
    "image", ["ghcr.io/azure/aks-rdma-infiniband/rccl-tests:latest", "mirror.example/rocm/dev:7.2"]
)
def test_an_image_of_workloads_that_is_known_for_amd64_alone_is_refused_on_arm64(image: str) -> None:
    found = mistakes(changed(pools=[pool(vmSize=GB300, images=["nvcr.io/nvidia/pytorch:25.12-py3", image])]))
    assert list(found) == ["pools[0].images[1]"]
    assert f"is built for amd64, and pool ndh100 ({GB300}) is arm64" in found["pools[0].images[1]"]
    assert loaded(pools=[pool(images=[image])])


def test_an_arm64_image_is_refused_on_amd64_machines() -> None:
    assert "is built for arm64" in mistakes(changed(validation={"image": "x/y-arm64:1"}))["validation.image"]


@pytest.mark.field_report("R7")
def test_gpu_pools_of_two_systems_are_refused_where_the_gpu_operator_has_the_driver() -> None:
    pools = [pool(osSku="Ubuntu2204"), named("ndh200", "Standard_ND96isr_H200_v5")]
    found = mistakes(changed(pools=pools))
    assert list(found) == ["pools[1].osSku"]
    assert "must be the same system as that of pool ndh100 (Ubuntu2204)" in found["pools[1].osSku"]
    pools[1] |= {"osSku": "Ubuntu2204"}
    assert loaded(pools=pools)
    pools = [pool(vmSize=A100), named("nda100", "Standard_ND96amsr_A100_v4") | {"osSku": "AzureLinux3"}]
    assert list(mistakes(changed(pools=pools))) == ["pools[1].osSku"]
    pools[0] |= {"osSku": "AzureLinux"}
    assert loaded(pools=pools), "the same system by another name"


@pytest.mark.field_report("R7")
def test_pools_without_gpus_may_have_another_system() -> None:
    assert loaded(pools=[pool(osSku="Ubuntu2204"), named("hb", "Standard_HB176rs_v4")])
