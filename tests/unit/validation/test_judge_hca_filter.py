"""The filter by which NCCL chooses HCAs: it must choose exactly the InfiniBand devices."""

from typing import Any

import pytest
from aks_infiniband.validation.payload.look.hcas import selects
from aks_infiniband.validation.payload.look.judge import judge_node


@pytest.mark.field_report("C9")
@pytest.mark.parametrize("hca_filter", ["mlx5_ib1", "=mlx5_ib0,mlx5_ib1", "", "mlx5", "^mlx5_ib", "mlx5_9", "^mlx5_8"])
def test_a_filter_that_does_not_choose_exactly_the_infiniband_devices_fails(
    healthy: Any, expected: Any, bad: Any, hca_filter: Any
) -> None:
    facts = healthy()
    facts["uverbs"].append("uverbs8")
    facts["environment"]["NCCL_IB_HCA"] = hca_filter
    expected["environment"]["NCCL_IB_HCA"] = hca_filter

    assert bad(judge_node("n0", facts, expected)) == [("nccl-hca-filter", "n0", None)]


@pytest.mark.parametrize(("hca_filter", "chosen"), [("nothing", "none"), ("=mlx5_ib3,mlx5_ib4", "mlx5_ib3, mlx5_ib4")])
def test_what_the_filter_should_choose_and_chooses_is_listed(
    healthy: Any, expected: Any, hca_filter: Any, chosen: Any
) -> None:
    facts = healthy()
    facts["environment"]["NCCL_IB_HCA"] = hca_filter
    check = next(c for c in judge_node("n0", facts, expected) if c["check"] == "nccl-hca-filter")
    assert check["expected"] == ", ".join(f"mlx5_ib{index}" for index in range(8))
    assert check["measured"] == chosen


@pytest.mark.field_report("R6")
def test_without_a_filter_of_its_own_a_pod_that_sees_the_ethernet_device_is_told_the_others(
    healthy: Any, expected: Any, bad: Any
) -> None:
    facts = healthy()
    facts["uverbs"].append("uverbs8")
    assert "NCCL_IB_HCA" not in facts["environment"]
    assert bad(judge_node("n0", facts, expected)) == []


def test_an_ethernet_device_that_the_pod_cannot_open_needs_no_filter(healthy: Any, expected: Any, bad: Any) -> None:
    facts = healthy()
    facts["environment"]["NCCL_IB_HCA"] = expected["environment"]["NCCL_IB_HCA"] = "mlx5"

    assert bad(judge_node("n0", facts, expected)) == []


@pytest.mark.parametrize(
    ("hca_filter", "device", "chosen"),
    [
        ("mlx5_ib", "mlx5_ib0", True),
        ("mlx5_ib", "mlx5_an0", False),
        ("mlx5_1", "mlx5_10", True),
        ("=mlx5_1", "mlx5_10", False),
        ("=mlx5_1:1", "mlx5_1", True),
        ("^mlx5_an", "mlx5_an0", False),
        ("^mlx5_an", "mlx5_0", True),
        ("^=mlx5_1", "mlx5_10", True),
        ("", "anything", True),
    ],
)
def test_the_filter_is_read_as_nccl_reads_it(hca_filter: Any, device: Any, chosen: Any) -> None:
    assert selects(hca_filter, device) is chosen
