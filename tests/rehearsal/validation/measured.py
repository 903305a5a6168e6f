"""Pools whose pods measure as real processes, and what their reports say."""

from collections.abc import Callable
from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.pool import Pool

from tests.rehearsal.validation.pods import Pods

HB = Pool(
    name="hb",
    size=SIZES["Standard_HB176rs_v4"],
    node_count=3,
    node_selector={"agentpool": "hb"},
    mode="rdma-shared",
    nic_driver="doca-ofed",
    gpu_driver="none",
)
ND = HB.changed(name="nd", size=SIZES["Standard_ND96isr_H100_v5"], node_count=2, gpu_driver="none")
"""Its GPUs are not measured here: the collective has separate tests."""
Make = Callable[..., Pods]


def checks_of(report: Any, name: str) -> list[Any]:
    return [check for check in report["checks"] if check["check"] == name]
