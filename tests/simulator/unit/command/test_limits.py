"""The limits of a rehearsed stack's waits follow from its pools."""

import json
from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.stack.limits import limits_of

H100, HBV4, V100 = "Standard_ND96isr_H100_v5", "Standard_HB176rs_v4", "Standard_ND40rs_v2"


def limits(*pools: Any, speed: float = 60, sizes: Any = SIZES) -> dict[str, int]:
    return limits_of({"aks-infiniband:pools": list(pools)}, sizes=sizes, speed=speed)


def pool(size: str, count: int) -> dict[str, Any]:
    return {"name": "a", "vmSize": size, "count": count}


@pytest.mark.parametrize(
    ("speed", "readiness", "validation"),
    [
        pytest.param(60, 120, 240, id="two hours pass in two minutes"),
        pytest.param(600, 120, 240, id="never less than this computer may need"),
        pytest.param(10, 720, 360, id="a slower clock"),
        pytest.param(1, 7200, 3600, id="in real time as long as in reality"),
    ],
)
def test_a_wait_is_as_long_as_in_reality_by_simulated_time(speed: float, readiness: int, validation: int) -> None:
    assert limits(pool(H100, 2), speed=speed) == {"readiness": readiness, "validation": validation}


@pytest.mark.parametrize(
    ("pools", "seconds"),
    [
        pytest.param([pool(H100, 4)], 240, id="four machines with eight HCAs"),
        pytest.param([pool(HBV4, 16)], 240, id="sixteen with one"),
        pytest.param([pool(H100, 16)], 640, id="sixteen with eight"),
        pytest.param([pool(V100, 16)], 640, id="sixteen with one HCA and eight GPUs"),
        pytest.param([pool(H100, 4), pool(H100, 8)], 480, id="two pools, which are measured at the same time"),
        pytest.param([pool(H100, 100)], 3600, id="a hundred, but no longer than in reality"),
    ],
)
def test_a_validation_has_the_time_that_its_devices_need(pools: list[Any], seconds: int) -> None:
    assert limits(*pools)["validation"] == seconds
    assert limits(*pools)["readiness"] == 120


def test_a_size_that_the_stack_file_describes_counts() -> None:
    known = {**SIZES, "Standard_Mine": SIZES[H100]}
    assert limits(pool("Standard_Mine", 16), sizes=known)["validation"] == 640
    assert limits(pool("Standard_Mine", 16))["validation"] == 240


def test_pools_as_json_text_count_as_those_in_yaml() -> None:
    pools = json.dumps([pool(H100, 16)])
    assert limits_of({"aks-infiniband:pools": pools}, sizes=SIZES, speed=60)["validation"] == 640


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_what_is_no_pool_is_left_to_the_program(found: Any) -> None:
    for pools in (found, [found], [{**pool(H100, 1), "count": found}], [{**pool(H100, 1), "vmSize": found}]):
        known = limits_of({"aks-infiniband:pools": pools}, sizes=SIZES, speed=60)
        assert known["readiness"] == 120
        assert 240 <= known["validation"] <= 3600
