"""A port's rate is judged by what it could reach and by the table of sizes. A wrong table fails no healthy machine."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.look.port_rate import with_found_rate
from aks_infiniband.validation.pool_expectations import expectations

CONNECTX_7, CONNECTX_8 = "28.41.1000", "40.44.1036"


def test_computed_limits_follow_the_ports_where_the_table_is_wrong() -> None:
    hb = Pool(name="hb", size=SIZES["Standard_HB176rs_v4"], node_count=2, gpu_driver="none")
    expected = expectations(hb)
    before = expected["thresholds"]["rdma-write-bandwidth"]

    port: Any = {"rate_gbps": 200.0, "firmware": "20.41.1000"}
    after = with_found_rate(expected, [port, port])["thresholds"]["rdma-write-bandwidth"]

    assert after["fail"] == before["fail"] / 2  # type: ignore[operator]
    assert after["warn"] == before["warn"] / 2  # type: ignore[operator]
    assert "scaled by 0.5" in str(after["source"])


def test_the_line_of_an_all_reduce_follows_the_ports_too(pool: Pool) -> None:
    expected = expectations(pool)
    ports: Any = [{"rate_gbps": 800.0, "firmware": CONNECTX_8}] * 16

    before, after = expected["collective"], with_found_rate(expected, ports)["collective"]

    assert before
    assert after
    assert after["line_gb_per_s"] == 2 * before["line_gb_per_s"]
    assert after["thresholds"]["infiniband"] == before["thresholds"]["infiniband"]  # published, so it stays


@pytest.mark.parametrize(
    "ports",
    [
        [],
        [{"rate_gbps": 400.0, "firmware": CONNECTX_7}],
        [{"rate_gbps": 800.0, "firmware": CONNECTX_8}, {"rate_gbps": 400.0, "firmware": CONNECTX_8}],
        [{"rate_gbps": 200.0, "firmware": CONNECTX_7}],
    ],
)
def test_limits_stay_where_ports_differ_or_are_sick_or_as_the_table_says(pool: Pool, ports: Any) -> None:
    expected = expectations(pool)

    assert with_found_rate(expected, ports) == expected
