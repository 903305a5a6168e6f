"""No machine that Azure calls healthy fails, and no floor lies below Azure's own."""

from dataclasses import replace
from typing import Any

import pytest
from aks_infiniband.facts.baselines.choice import baselines_of, certain, thresholds
from aks_infiniband.facts.catalog import SIZES

from tests.unit.field_recordings.recordings import recordings

ACCEPTED = recordings()["accepted-by-azure"]["figures"]
FLOORS = recordings()["health-check-floors"]["figures"]
BANDWIDTHS = ("rdma-write-bandwidth", "rdma-read-bandwidth")


@pytest.mark.parametrize("run", ACCEPTED, ids=lambda run: f"{run['size']}-{run['region']}")
@pytest.mark.field_report("R8")
def test_a_run_that_azure_accepted_does_not_fail(run: dict[str, Any]) -> None:
    figures = [figure for figure in ("rdma-write-bandwidth", "rdma-read-latency") if figure in run]
    for figure, bound in thresholds(SIZES[run["size"]], figures).items():
        assert run[figure] > bound["fail"] if bound["better"] == "higher" else run[figure] < bound["fail"]


@pytest.mark.field_report("R8")
def test_a_floor_is_azures_own_where_it_tests_with_one_queue_pair() -> None:
    for floor in FLOORS:
        for size in floor["sizes"]:
            for bound in thresholds(SIZES[size], BANDWIDTHS).values():
                azures = floor.get("check_ib_bw_gdr") or floor["check_ib_bw_non_gdr"]
                rate = SIZES[size].infiniband.rate_gbps
                assert bound["fail"] <= azures, (
                    "Azure tests within one machine, and with two queue pairs where it says 390"
                )
                assert bound["fail"] >= min(azures, 0.9 * rate)


@pytest.mark.field_report("R8")
def test_all_reduce_of_mi300x_is_measured_and_not_judged() -> None:
    rows = baselines_of(SIZES["Standard_ND96isr_MI300X_v5"])
    assert [row for row in rows if row.figure == "all-reduce"] == []


@pytest.mark.parametrize("run", recordings()["two-node-all-reduce"]["figures"], ids=lambda run: run["size"])
@pytest.mark.field_report("R13")
def test_no_all_reduce_that_was_recorded_on_azure_fails(run: dict[str, Any]) -> None:
    for bound in thresholds(SIZES[run["size"]], ["all-reduce"]).values():
        assert bound["fail"] is None or run["all-reduce"] > bound["fail"]


@pytest.mark.parametrize("size", ["Standard_ND96isr_H100_v5", "Standard_HB176rs_v4", "Standard_ND40rs_v2"])
@pytest.mark.field_report("R13")
def test_what_was_measured_on_another_size_only_warns(size: str) -> None:
    figures = ("rdma-ping-pong-latency", "ipoib-throughput", "pod-network-latency")
    for bound in thresholds(SIZES[size], figures).values():
        assert bound["fail"] is None
        assert bound["warn"] is not None


def test_a_limit_fails_only_where_somebody_has_recorded_what_several_healthy_machines_have() -> None:
    for size in sorted(SIZES):
        for row in baselines_of(SIZES[size]):
            assert row.healthy or row.fail is None, row
            assert certain(replace(row, healthy=None, warn=None, fail=7.0)) == replace(
                row, healthy=None, warn=7.0, fail=None
            )
