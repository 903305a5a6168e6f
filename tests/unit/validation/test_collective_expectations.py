"""The plan and the limits of a pool's all-reduce, from size, node count and stack file."""

import json

import pytest
from aks_infiniband.facts.baselines import Baseline, GivenThreshold
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.pool_expectations import collective_expectations, for_ring, line_gb_per_s

GIB = 1 << 30
H100 = "Standard_ND96isr_H100_v5"
A100 = "Standard_ND96asr_v4"


def pool(size: str, nodes: int = 2) -> Pool:
    return Pool(
        name="p",
        size=SIZES[size],
        node_count=nodes,
        node_selector={"agentpool": "p"},
        mode="rdma-shared",
        nic_driver="doca-ofed",
        gpu_driver="operator",
    )


def test_without_gpus_that_somebody_offers_there_is_no_collective() -> None:
    assert collective_expectations(pool("Standard_HB120rs_v3")) is None
    assert collective_expectations(pool(H100).changed(gpu_driver="none")) is None


def test_two_a100_machines_are_held_against_what_was_measured_on_two() -> None:
    found = collective_expectations(pool(A100))
    assert found is not None
    bound = found["thresholds"]["infiniband"]
    assert (bound["warn"], bound["fail"], bound["message_bytes"]) == (180.0, None, 8 * GIB)
    assert (found["small"]["warn"], found["small"]["fail"]) == (0.006, None), "one run was recorded"
    assert 8 * GIB in found["sizes"]


@pytest.mark.parametrize("size", [A100, H100])
def test_a_number_of_machines_of_which_nothing_was_published_is_measured_and_not_judged(size: str) -> None:
    found = collective_expectations(pool(size, nodes=16))
    assert found is not None
    assert (found["thresholds"]["infiniband"], found["small"]) == (None, None)


@pytest.mark.parametrize("size", [A100, H100])
def test_pairs_of_a_larger_pool_are_held_against_what_was_published_of_two_machines(size: str) -> None:
    two, many = collective_expectations(pool(size)), collective_expectations(pool(size, nodes=16))
    assert two is not None
    assert many is not None
    assert many["pairs"]["threshold"] == two["thresholds"]["infiniband"]
    assert many["pairs"]["bytes"] == two["thresholds"]["infiniband"]["message_bytes"]
    assert two["pairs"] is None, "the all-reduce of two machines is that of the pair"


@pytest.mark.field_report("C4b")
def test_limits_above_what_a_ring_can_carry_are_replaced_and_say_so() -> None:
    tuned = Baseline(figure="all-reduce", basis="quoted", source="with SHARP", expected=450.0, warn=400.0, fail=300.0)
    bound = for_ring(tuned, SIZES[H100])
    assert bound.fail == 300.0
    assert (bound.warn or 0) < (bound.expected or 0) < line_gb_per_s(SIZES[H100]) == 400.0
    assert "for a ring" in bound.source


@pytest.mark.field_report("R13")
def test_a_run_without_sharp_and_more_channels_is_judged_as_one() -> None:
    found = collective_expectations(pool(H100))
    assert found is not None
    bound = found["thresholds"]["infiniband"]
    assert bound["fail"] < 157.29 < bound["warn"] < line_gb_per_s(SIZES[H100])
    assert bound["message_bytes"] == 16 * GIB
    assert max(found["sizes"]) == 16 * GIB


def test_one_machine_alone_is_measured_and_not_judged() -> None:
    found = collective_expectations(pool(H100, nodes=1))
    assert found is not None
    assert found["thresholds"]["nvlink"] is None


def test_the_stack_file_replaces_the_catalogues_limits() -> None:
    found = collective_expectations(pool(H100), {"all-reduce": GivenThreshold(warn=None, fail=380.0)})
    assert found is not None
    bound = found["thresholds"]["infiniband"]
    assert (bound["warn"], bound["fail"], bound["basis"]) == (None, 380.0, "given")


def test_the_full_sweep_goes_from_8_bytes_to_16_gib_and_the_short_one_is_short() -> None:
    full, short = collective_expectations(pool(A100), sweep="full"), collective_expectations(pool(A100))
    assert full is not None
    assert short is not None
    assert (full["sizes"][0], full["sizes"][-1], len(full["sizes"])) == (8, 16 * GIB, 32)
    assert set(short["sizes"]) < set(full["sizes"])
    assert len(short["sizes"]) <= 6


def test_every_plan_is_json_and_its_largest_message_fits_the_gpu() -> None:
    for size in sorted(name for name, size in SIZES.items() if size.accelerator):
        found = collective_expectations(pool(size))
        accelerator = SIZES[size].accelerator
        assert found is not None
        assert accelerator is not None
        assert json.loads(json.dumps(found)) == found
        assert max(found["sizes"]) < accelerator.memory_gb * 10**9 * 0.7
