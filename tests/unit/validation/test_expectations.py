"""The expectations of a pool, from its size and the stack file, except for its all-reduce."""

from typing import Any

from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.validation.pool_expectations import expectations
from aks_infiniband.workload.environment import nccl_environment


def test_expectations_follow_the_catalogue(pool: Any) -> None:
    expected: Any = expectations(pool)
    thresholds, collective = expected.pop("thresholds"), expected.pop("collective")
    assert expected == {
        "pool": "ndh100",
        "vm_size": "Standard_ND96isr_H100_v5",
        "mode": "rdma-shared",
        "node_count": 2,
        "hcas": {"count": 8, "rate_gbps": 400},
        "accelerators": {"resource": "nvidia.com/gpu", "count": 8, "device_pattern": r"nvidia\d+"},
        "nvlink": None,
        "rdma_resource": "rdma/shared_ib",
        "interfaces": [],
        "environment": nccl_environment(),
        "shm_bytes": 1 << 30,
        "memlock_for_all": False,
        "figures": [
            "rdma-write-bandwidth",
            "rdma-read-bandwidth",
            "rdma-read-latency",
            "rdma-ping-pong-latency",
            "rdma-ping-pong-throughput",
        ],
        "tries": 3,
        "gpus": {"count": 8, "seconds": 6},
        "not_measured": [],
        "error_counters": "warn",
    }
    assert set(thresholds) == set(expected["figures"])
    assert thresholds["rdma-write-bandwidth"]["fail"] == 360
    assert collective["ranks_per_node"] == 8


def test_a_size_without_gpus_promises_rdma_alone(pool: Any) -> None:
    cpu = pool.changed(size=SIZES["Standard_HB120rs_v3"], gpu_driver="none")
    assert cpu.promised_resources == {"rdma/shared_ib": 1}
    assert expectations(cpu)["accelerators"] is None
    assert expectations(cpu)["collective"] is None
    assert expectations(cpu)["gpus"] is None
    assert expectations(cpu)["not_measured"] == []


def test_gpus_are_loaded_for_minutes_where_somebody_asks_for_it(pool: Any) -> None:
    assert expectations(pool, burn_in=30)["gpus"] == {"count": 8, "seconds": 1800}


def test_gpus_of_amd_are_not_loaded(pool: Any) -> None:
    assert expectations(pool.changed(size=SIZES["Standard_ND96isr_MI300X_v5"]))["gpus"] is None


def test_every_size_of_the_catalogue_has_expectations(pool: Any) -> None:
    for size in sorted(SIZES):
        expected: Any = expectations(pool.changed(size=SIZES[size]))
        assert expected["hcas"]["count"] == SIZES[size].infiniband.hca_count
