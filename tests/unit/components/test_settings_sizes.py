"""Machine sizes: known ones, described ones, and the feature that a subscription has or has not."""

from aks_infiniband.facts.catalog import SIZES

from tests.unit.components.stack_files import loaded, pool

OWN = {
    "vcpus": 200,
    "memoryGib": 3000,
    "series": "ND_B300_v7",
    "infiniband": {"hcaCount": 8, "generation": "XDR", "adapter": "ConnectX-8"},
    "accelerator": {"vendor": "nvidia", "model": "B300", "count": 8, "memoryGb": 288},
}


def test_every_size_of_the_catalogue_makes_a_pool() -> None:
    for size in SIZES:
        stack = loaded(pools=[pool(vmSize=size)])
        assert stack.pools[0].size is SIZES[size]


def test_a_size_that_the_stack_describes_is_as_good_as_a_known_one() -> None:
    stack = loaded(sizes={"Standard_ND200isr_B300_v7": OWN}, pools=[pool(vmSize="Standard_ND200isr_B300_v7")])
    size = stack.pools[0].size
    assert (size.name, size.infiniband.rate_gbps, size.infiniband.vf_device_id) == (
        "Standard_ND200isr_B300_v7",
        800,
        "101e",
    )
    assert stack.pools[0].gpu_driver == "operator"
