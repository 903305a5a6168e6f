"""Values that are well-formed and impossible: each case would be refused later, by Azure, Kubernetes, Helm or the
engine.
"""

from pathlib import Path

import pytest
from aks_infiniband import SettingsError, load
from aks_infiniband.facts.azure_names import REGIONS, has_rdma, is_size, too_small_for_the_system
from aks_infiniband.facts.catalog import SIZES

from tests.unit.components.stack_files import changed, made, mistakes, named, pool


def test_a_region_is_taken_by_its_name_however_it_is_written() -> None:
    stack = {**changed(), "azure-native:location": "South Central US"}
    assert made(load(stack)).cluster.location == "southcentralus"


def test_the_rules_for_names_know_every_size_of_the_catalogue() -> None:
    for size in SIZES:
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


def test_a_helm_key_that_is_a_number_is_refused() -> None:
    found = mistakes(changed(networkOperator={"values": {"a": {1: "x"}}}))
    assert found == {"networkOperator.values.a": "has the key 1; must be text: put it in quotes"}
