"""Machine sizes: known ones, described ones, and the feature that a subscription has or has not."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES

from tests.unit.components.stack_files import changed, loaded, mistakes, named, pool

OWN = {
    "vcpus": 200,
    "memoryGib": 3000,
    "series": "ND_B300_v7",
    "infiniband": {"hcaCount": 8, "generation": "XDR", "adapter": "ConnectX-8"},
    "accelerator": {"vendor": "nvidia", "model": "B300", "count": 8, "memoryGb": 288},
}


@pytest.mark.parametrize("size", SIZES)
def test_every_size_of_the_catalogue_makes_a_pool(size: str) -> None:
    stack = loaded(pools=[pool(vmSize=size)])
    assert stack.pools[0].size is SIZES[size]


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("Standard_ND96is_H100_v5", "behind its number); nearest known size: Standard_ND96isr_H100_v5"),
        ("Standard_D8s_v5", "does not have InfiniBand (a size that has it carries an r"),
        ("standard_nd96isr_h100_v5", "did you mean Standard_ND96isr_H100_v5?"),
        (
            "Standard_ND96isr_H10_v5",
            "must be a known InfiniBand size; nearest known size: Standard_ND96isr_H100_v5; "
            "or describe it under aks-infiniband:sizes; known: Standard_HC44rs",
        ),
    ],
)
@pytest.mark.field_report("A10")
def test_a_size_without_infiniband_or_unknown_to_us_is_refused(size: str, reason: str) -> None:
    assert reason in mistakes(changed(pools=[pool(vmSize=size)]))["pools[0].vmSize"]


def test_a_size_without_infiniband_is_told_of_ordinary_pools() -> None:
    found = mistakes(changed(pools=[pool(vmSize="Standard_D8s_v5")]))
    assert found["pools[0].vmSize"].endswith("or set infiniband: false for a pool of ordinary machines")


def test_an_infiniband_size_in_an_ordinary_pool_is_refused() -> None:
    ordinary = named("hb", "Standard_HB176rs_v4", infiniband=False)
    assert (
        "has InfiniBand: make it a pool with InfiniBand"
        in mistakes(changed(pools=[pool(), ordinary]))["pools[1].vmSize"]
    )


@pytest.mark.parametrize("size", ["Standard_ND96isr_B200_v6", "Standard_NC24rs_v3", "standard_hb176rs_v9"])
def test_a_size_with_the_feature_r_in_an_ordinary_pool_is_refused_although_it_is_not_known(size: str) -> None:
    found = mistakes(changed(pools=[pool(), named("more", size, infiniband=False)]))
    assert "has InfiniBand, by the r in its name" in found["pools[1].vmSize"]


@pytest.mark.parametrize("size", ["Standard_NC24ads_A100_v4", "Standard_ND96is_flex_H100_v5", "Standard_D8s_v5"])
def test_a_size_without_the_feature_r_may_be_an_ordinary_pool(size: str) -> None:
    assert loaded(pools=[pool(), named("more", size, infiniband=False)])


def test_an_infiniband_size_for_the_system_pool_is_refused() -> None:
    found = mistakes(changed(cluster={"kubernetesVersion": "1.35", "systemPool": {"vmSize": "Standard_HX176rs"}}))
    assert "is an InfiniBand size: give it a separate pool" in found["cluster.systemPool.vmSize"]


def test_a_described_infiniband_size_for_the_system_pool_is_refused() -> None:
    system = {"kubernetesVersion": "1.35", "systemPool": {"vmSize": "Standard_ND1r"}}
    found = mistakes(changed(sizes={"Standard_ND1r": OWN}, cluster=system))
    assert "is described with InfiniBand" in found["cluster.systemPool.vmSize"]


def test_a_size_that_the_stack_describes_is_as_good_as_a_known_one() -> None:
    stack = loaded(sizes={"Standard_ND200isr_B300_v7": OWN}, pools=[pool(vmSize="Standard_ND200isr_B300_v7")])
    size = stack.pools[0].size
    assert (size.name, size.infiniband.rate_gbps, size.infiniband.vf_device_id) == (
        "Standard_ND200isr_B300_v7",
        800,
        "101e",
    )
    assert stack.pools[0].gpu_driver == "operator"


def test_a_described_size_that_the_catalogue_has_is_refused() -> None:
    found = mistakes(changed(sizes={"Standard_HB176rs_v4": OWN}))
    assert found == {"sizes.Standard_HB176rs_v4": "is in the catalogue already, and cannot be described again"}


def test_a_mistake_in_a_description_is_the_only_one_for_its_pool() -> None:
    broken: Any = {**OWN, "infiniband": {"hcaCount": 8, "generation": "FDR", "adapter": "ConnectX-8"}}
    found = mistakes(changed(sizes={"Standard_ND1r": broken}, pools=[pool(vmSize="Standard_ND1r")]))
    assert list(found) == ["sizes.Standard_ND1r.infiniband.generation"]


def test_a_stack_that_needs_the_feature_both_registered_and_absent_is_refused() -> None:
    found = mistakes(changed(pools=[pool(), {**named("gb", "Standard_ND128isr_GB300_v6"), "gpuDriver": "none"}]))
    assert list(found) == ["pools[1].vmSize"]
    assert "cannot be in one stack with pool ndh100 (Standard_ND96isr_H100_v5)" in found["pools[1].vmSize"]
    assert "AKSInfinibandSupport must not be registered, for the other it must be" in found["pools[1].vmSize"]
