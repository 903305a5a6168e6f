"""The limits of a rehearsed stack's waits follow from its pools."""

import json
from typing import Any

from aks_infiniband.facts.catalog import SIZES
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.stack.limits import limits_of

H100 = "Standard_ND96isr_H100_v5"


def pool(size: str, count: int) -> dict[str, Any]:
    return {"name": "a", "vmSize": size, "count": count}


def test_pools_as_json_text_count_as_those_in_yaml() -> None:
    pools = json.dumps([pool(H100, 16)])
    assert limits_of({"aks-infiniband:pools": pools}, sizes=SIZES, speed=60)["validation"] == 640


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=5))
def test_what_is_no_pool_is_left_to_the_program(found: Any) -> None:
    for pools in (found, [found], [{**pool(H100, 1), "count": found}], [{**pool(H100, 1), "vmSize": found}]):
        known = limits_of({"aks-infiniband:pools": pools}, sizes=SIZES, speed=60)
        assert known["readiness"] == 120
        assert 240 <= known["validation"] <= 3600
