"""A port's rate is judged by what it could reach and by the table of sizes. A wrong table fails no healthy machine."""

from typing import Any

import pytest
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.payload.look.judge import judge_node
from aks_infiniband.validation.payload.look.port_rate import with_found_rate
from aks_infiniband.validation.pool_expectations import expectations

CONNECTX_7, CONNECTX_8 = "28.41.1000", "40.44.1036"


def rates(facts: Any, expected: Any, rate: float | None, firmware: str | None = CONNECTX_7) -> Any:
    """The checks of the rate of a node all of whose ports are alike."""
    for hca in facts["hcas"]:
        hca |= {"rate_gbps": rate, "firmware": firmware}
    return [check for check in judge_node("n0", facts, expected) if check["check"] == "hca-rate"]


def test_a_port_at_half_of_its_own_maximum_fails_by_name(healthy: Any, expected: Any) -> None:
    found = rates(healthy(), expected, 200.0)

    assert {check["verdict"] for check in found} == {"fail"}
    assert [check["device"] for check in found] == [f"mlx5_ib{n}" for n in range(8)]


@pytest.mark.parametrize("firmware", [None, "", "unknown", "28", CONNECTX_8])
def test_a_port_below_the_table_fails_whatever_its_firmware(healthy: Any, expected: Any, firmware: str | None) -> None:
    assert {check["verdict"] for check in rates(healthy(), expected, 100.0, firmware)} == {"fail"}


def test_a_port_without_a_rate_fails(healthy: Any, expected: Any) -> None:
    assert {check["verdict"] for check in rates(healthy(), expected, None)} == {"fail"}


@pytest.mark.parametrize(("rate", "firmware"), [(800.0, CONNECTX_8), (800.0, None), (200.0, "20.41.1000")])
def test_a_port_at_its_maximum_that_differs_from_the_table_warns_and_names_the_table(
    healthy: Any, expected: Any, rate: float, firmware: str | None
) -> None:
    found = rates(healthy(), expected, rate, firmware)

    assert {check["verdict"] for check in found} == {"warn"}
    assert "the table of machine sizes says 400 for Standard_ND96isr_H100_v5" in found[0]["cause"]
    assert "aks-infiniband:sizes" in found[0]["cause"]


def test_more_hcas_than_the_table_has_warn_and_name_the_table(healthy: Any, expected: Any) -> None:
    (check,) = [
        check
        for check in judge_node("n0", healthy(), expected | {"hcas": {"count": 4, "rate_gbps": 400.0}})
        if check["check"] == "hca-count"
    ]

    assert (check["verdict"], check["expected"], check["measured"]) == ("warn", 4, 8)
    assert "The table is wrong" in str(check["cause"])


def test_a_gb300_at_half_of_its_800_fails_and_at_all_of_it_passes(healthy: Any) -> None:
    size = SIZES["Standard_ND128isr_GB300_v6"]
    expected = expectations(Pool(name="gb300", size=size, node_count=2, gpu_driver="none"))

    assert {check["verdict"] for check in rates(healthy(), expected, 400.0, CONNECTX_8)} == {"fail"}
    assert {check["verdict"] for check in rates(healthy(), expected, 800.0, CONNECTX_8)} == {"pass"}


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
