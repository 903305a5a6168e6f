"""Values that are well-formed and impossible: each case would be refused later, by Azure, Kubernetes, Helm or the
engine.
"""

from pathlib import Path
from typing import Any

import pytest
from aks_infiniband import SettingsError, load
from aks_infiniband.facts.azure_names import REGIONS, has_rdma, is_size, too_small_for_the_system
from aks_infiniband.facts.catalog import SIZES

from tests.unit.components.stack_files import changed, loaded, made, mistakes, named, pool
from tests.unit.settings.refused import CASES, WEB, in_region, of_system
from tests.unit.settings.refused_addresses import with_ipoib


@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_is_refused_before_anything_is_made(case: str) -> None:
    configuration, key, reason = CASES[case]
    with pytest.raises(SettingsError) as refused:
        load(configuration)
    told = str(refused.value)
    assert reason in told
    assert key in told
    assert "s3cret" not in told


@pytest.mark.parametrize(
    "configuration",
    [
        in_region("South Central US"),
        in_region("moonbase", regions={"moonbase": []}),
        in_region("westus", regions={"westus": ["1"]}, pools=[pool(zones=["1"])]),
        changed(pools=[pool(labels={"a-b.example.com/x_y.z": "1"})]),
        changed(pools=[pool(), {**WEB, "vmSize": "Standard_E96-24ads_v5"}]),
        changed(pools=[pool(), {**WEB, "vmSize": "Standard_NC24ads_A100_v4"}]),
        changed(validation={"image": "localhost:5000/a/b:1"}),
        changed(validation={"image": f"example.com:65535/a@sha256:{'0' * 64}"}),
        changed(validation={"image": "python"}),
        changed(registry={"images": "localhost:5000"}),
        changed(registry={"images": "10.0.0.1:5000/x"}),
        changed(networkOperator={"chart": {"version": ">=26.4 <27", "name": "./rehearsal/charts/network-operator"}}),
        changed(networkOperator={"chart": {"name": "oci://example.com/charts/network-operator"}}),
        of_system(vmSize="Standard_DS3_v2"),
        of_system(vmSize="Standard_D4ds_v6"),
        {**changed(), "kubernetes:context": "x", "azure-native:tenantId": "y", "other:thing": "z"},
        with_ipoib(range="192.168.0.0/20", gateway="192.168.0.1"),
    ],
)
def test_what_can_be_is_taken(configuration: Any) -> None:
    assert load(configuration)


def test_a_region_is_taken_by_its_name_however_it_is_written() -> None:
    assert made(load(in_region("South Central US"))).cluster.location == "southcentralus"


@pytest.mark.parametrize("size", SIZES)
def test_the_rules_for_names_know_every_size_of_the_catalogue(size: str) -> None:
    assert is_size(size)
    assert has_rdma(size)
    assert not too_small_for_the_system(size)


def test_regions_of_the_table_are_names() -> None:
    assert len(REGIONS) == 58
    assert all(region.isalnum() and region.islower() for region in REGIONS)


def test_a_topology_beyond_a_config_map_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "topology.xml"
    file.write_text(f'<system version="1">{" " * 1_100_000}</system>')
    found = mistakes(changed(pools=[pool(ncclTopology=str(file))]))
    assert "it has more than 1,000,000 bytes" in found["pools[0].ncclTopology"]


def test_many_mistakes_are_told_as_far_as_people_read() -> None:
    with pytest.raises(SettingsError) as refused:
        load(changed(pools=[named(f"P{n}", "Standard_D8s_v5") for n in range(99)]))
    assert len(refused.value.mistakes) >= 198
    told = str(refused.value)
    assert len(told.encode()) < 2048
    assert told.splitlines()[-1].endswith("more")


def test_the_recorded_good_stack_is_still_taken() -> None:
    assert loaded()
