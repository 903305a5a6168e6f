"""The expectations of every size; tests/unit/validation/cases/expectations.yaml has the expectations of some pools."""

import json
from typing import Any

import pytest
from aks_infiniband.facts.baselines import Baseline
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.pool_expectations import (
    collective_expectations,
    expectations,
    for_ring,
    line_gb_per_s,
)

from tests.unit.validation.healthy import POOL

GIB = 1 << 30
H100 = "Standard_ND96isr_H100_v5"


@pytest.mark.field_report("C4b")
def test_limits_above_what_a_ring_can_carry_are_replaced_and_say_so() -> None:
    tuned = Baseline(figure="all-reduce", basis="quoted", source="with SHARP", expected=450.0, warn=400.0, fail=300.0)
    bound = for_ring(tuned, SIZES[H100])
    assert bound.fail == 300.0
    assert (bound.warn or 0) < (bound.expected or 0) < line_gb_per_s(SIZES[H100]) == 400.0
    assert "for a ring" in bound.source


@pytest.mark.field_report("R13")
def test_a_run_without_sharp_and_more_channels_is_judged_as_one() -> None:
    found = collective_expectations(POOL)
    assert found is not None
    bound = found["thresholds"]["infiniband"]
    assert bound["fail"] < 157.29 < bound["warn"] < line_gb_per_s(SIZES[H100])
    assert bound["message_bytes"] == 16 * GIB
    assert max(found["sizes"]) == 16 * GIB


def test_every_plan_is_json_and_its_largest_message_fits_the_gpu() -> None:
    for size in sorted(name for name, size in SIZES.items() if size.accelerator):
        found = collective_expectations(POOL.changed(size=SIZES[size]))
        accelerator = SIZES[size].accelerator
        assert found is not None
        assert accelerator is not None
        assert json.loads(json.dumps(found)) == found
        assert max(found["sizes"]) < accelerator.memory_gb * 10**9 * 0.7


def test_every_size_of_the_catalogue_has_expectations() -> None:
    for size in sorted(SIZES):
        expected: Any = expectations(POOL.changed(size=SIZES[size]))
        assert expected["hcas"]["count"] == SIZES[size].infiniband.hca_count
