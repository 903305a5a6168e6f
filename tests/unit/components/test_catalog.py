"""The catalogue of machine sizes: complete, consistent in itself, and open for sizes that it does not know."""

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.described import described
from aks_infiniband.facts.catalog.machine import PciSlot

from tests.unit.field_recordings.recordings import recordings


def test_every_adapter_and_gpu_has_a_slot_of_its_own() -> None:
    for size in SIZES.values():
        gpus = size.accelerator.count if size.accelerator else 0
        assert (len(size.slots.hcas), len(size.slots.gpus)) == (size.infiniband.hca_count, gpus)
        addresses = [slot.address for slot in (*size.slots.hcas, *size.slots.gpus)]
        assert len(set(addresses)) == len(addresses)


def test_constrained_cores_keep_memory_and_adapters() -> None:
    full = SIZES["Standard_HB176rs_v4"]
    for cores in (144, 96, 48, 24):
        variant = SIZES[f"Standard_HB176-{cores}rs_v4"]
        assert (variant.vcpus, variant.quota_vcpus) == (cores, 176)
        assert (variant.memory_gib, variant.infiniband, variant.series) == (full.memory_gib, full.infiniband, "HBv4")


@pytest.mark.field_report("R14")
def test_every_size_is_there_that_azures_health_checks_know_with_infiniband() -> None:
    listed = {name for floor in recordings()["health-check-floors"]["figures"] for name in floor["sizes"]}
    assert listed <= set(SIZES)
    assert {f"Standard_HB120-{cores}rs_v2" for cores in (96, 64, 32, 16)} <= set(SIZES)
    assert {f"Standard_HB368-{cores}rs_v5" for cores in (336, 288, 240, 192, 144, 96, 48)} <= set(SIZES)


@pytest.mark.field_report("R14")
def test_grace_blackwell_has_the_memory_that_azure_says() -> None:
    assert {size.memory_gib for size in SIZES.values() if size.architecture == "arm64"} == {864}


def test_addresses_and_interfaces_are_those_of_linux() -> None:
    assert (PciSlot(domain=257, numa_node=0).address, PciSlot(domain=257, numa_node=0).interface) == (
        "0101:00:00.0",
        "ibP257p0s0",
    )
    assert PciSlot(domain=0x18, bus=6, numa_node=1).address == "0018:06:00.0"


@pytest.mark.parametrize("name", ["Standard_HB120rs_v3", "Standard_ND96asr_v4"])
def test_the_interface_that_the_guide_names_is_the_first(name: str) -> None:
    assert SIZES[name].ipoib_devices[0] == "ibP257p0s0"


def test_interfaces_are_told_only_where_they_are_known() -> None:
    assert {size.series for size in SIZES.values() if not size.ipoib_devices} == {"HC", "HBv2"}


def test_a_topology_is_known_where_azure_publishes_one() -> None:
    assert {size.name for size in SIZES.values() if size.slots.processor} == {
        "Standard_ND40rs_v2",
        "Standard_ND96asr_v4",
        "Standard_ND96amsr_A100_v4",
        "Standard_ND96isr_H100_v5",
        "Standard_ND96isr_H200_v5",
        "Standard_ND96isrf_H200_v5",
    }


def test_only_grace_blackwell_must_not_have_the_placement_feature() -> None:
    absent = {size.name for size in SIZES.values() if not size.placement_feature}
    gb300 = {"Standard_ND128isr_GB300_v6", "Standard_ND128isrG5_GB300_v6"}
    assert absent == {"Standard_ND128isr_NDR_GB200_v6", *gb300}
    assert absent == {size.name for size in SIZES.values() if size.architecture == "arm64"}
    assert absent == {size.name for size in SIZES.values() if size.nvlink_domain == 18}


def test_each_gpu_says_what_makes_it_usable() -> None:
    software = {size.accelerator.model: size.accelerator.software for size in SIZES.values() if size.accelerator}
    assert software == {
        **dict.fromkeys(("V100", "A100", "H100", "H200", "GB200", "GB300"), "gpu-operator"),
        "MI300X": "rocm",
    }


def test_a_described_size_is_like_any_other() -> None:
    size = described(
        "Standard_ND8isr_X_v9",
        {
            "vcpus": 8,
            "memoryGib": 64,
            "series": "NDX",
            "infiniband": {"hcaCount": 2, "generation": "NDR", "adapter": "ConnectX-7", "rateGbps": 200},
            "accelerator": {"vendor": "nvidia", "model": "X", "count": 2, "memoryGb": 80},
            "architecture": "arm64",
            "placementFeature": False,
        },
    )
    assert (size.infiniband.rate_gbps, size.infiniband.vf_device_id) == (200, "101e")
    assert [slot.numa_node for slot in size.slots.hcas] == [0, 1]
    assert size.accelerator is not None
    assert (size.accelerator.software, size.nvlink_domain) == ("gpu-operator", 18)
    assert size.slots.processor is None
    assert size.ipoib_devices == ()


def test_a_described_size_needs_no_gpus() -> None:
    infiniband = {"hcaCount": 1, "generation": "HDR", "adapter": "ConnectX-6"}
    size = described("Standard_H1r", {"vcpus": 1, "memoryGib": 1, "series": "H", "infiniband": infiniband})
    assert (size.accelerator, size.slots.gpus, size.infiniband.rate_gbps, size.placement_feature) == (
        None,
        (),
        200,
        True,
    )
