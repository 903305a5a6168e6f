"""Sizes are in the catalogue and in the simulated subscription as Azure listed them."""

import pytest
from aks_infiniband.facts.catalog import SIZES

from rehearsal.azure.subscription import load
from tests.unit.field_recordings.shapes import body

LISTED: dict[str, list[int | str]] = body("arm-hpc-sizes")


@pytest.mark.field_report("R14")
def test_a_size_has_the_cores_memory_disk_and_quota_that_azure_lists() -> None:
    for name, listed in LISTED.items():
        size = SIZES[name]
        series = load().series[size.series]
        assert [size.vcpus, size.memory_gib, series.temporary_disk_gib, series.family] == listed
