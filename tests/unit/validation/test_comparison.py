"""A later measurement is held against the one that was accepted."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.report.acceptance import accepted_of, compare, worst_values
from aks_infiniband.validation.payload.say.checks import make_check

ACCEPTED: Any = {
    "finished": "2026-11-01T10:00:00+00:00",
    "values": {"rdma-write-bandwidth": 393.1, "rdma-read-latency": 5.5},
}


def parts(*rows: tuple[str, float | None]) -> Any:
    return {"rdma": [{"figure": figure, "value": value} for figure, value in rows], "networks": []}


def test_the_worst_value_of_each_figure_counts(expected: Any) -> None:
    found = parts(("rdma-write-bandwidth", 393.1), ("rdma-write-bandwidth", 391.0), ("rdma-write-bandwidth", None),
                  ("rdma-read-latency", 5.4), ("rdma-read-latency", 5.6))  # fmt: skip
    checks = [make_check("all-reduce", "pass", expected=300, measured=381.5)]
    assert worst_values(found, checks, expected["thresholds"]) == {
        "rdma-write-bandwidth": 391.0,
        "rdma-read-latency": 5.6,
        "all-reduce": 381.5,
    }


@pytest.mark.parametrize(
    ("values", "regressed"),
    [
        ({"rdma-write-bandwidth": 392.0, "rdma-read-latency": 5.6}, []),
        ({"rdma-write-bandwidth": 420.0, "rdma-read-latency": 4.0}, []),
        ({"rdma-write-bandwidth": 370.0, "rdma-read-latency": 5.5}, ["rdma-write-bandwidth"]),
        ({"rdma-write-bandwidth": 393.0, "rdma-read-latency": 5.9}, ["rdma-read-latency"]),
        ({"something-new": 1.0}, []),
    ],
)
def test_a_figure_that_is_far_worse_than_before_is_a_warning_and_a_better_one_is_not(
    expected: Any, values: Any, regressed: Any
) -> None:
    checks = compare(ACCEPTED, values, expected["thresholds"])
    assert [check["device"] for check in checks] == regressed
    assert all(check["verdict"] == "warn" and "2026-11-01" in str(check["cause"]) for check in checks)


def test_the_first_time_there_is_nothing_to_compare_with(expected: Any) -> None:
    for text in (None, "", "[]", "{half", "{}"):
        assert compare(accepted_of(text), {"rdma-write-bandwidth": 1.0}, expected["thresholds"]) == []
