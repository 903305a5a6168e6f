"""What a pool promises, computed from the catalogue: the data against which the payload judges."""

from collections.abc import Mapping
from typing import Any, Final, cast

from aks_infiniband.facts.baselines import FIGURES, GivenThreshold, thresholds
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.collective_expectations import collective_expectations
from aks_infiniband.validation.options import Sweep
from aks_infiniband.validation.payload.expectations import Expectations
from aks_infiniband.workload.environment import nccl_environment
from aks_infiniband.workload.pods import DRIVER_READY

SHM_BYTES: Final = 1 << 30
"""Least size of /dev/shm: what NVIDIA's framework containers ask for (`--shm-size=1g`); by default it is 64 MiB."""

_DEVICE_PATTERNS: Final = {"nvidia": r"nvidia\d+", "amd": r"dri/renderD\d+"}
"""Files below /dev, one for each accelerator, as the vendors' device plugins mount them."""

_ACCELERATOR_FIGURES: Final = ("all-reduce", "GPUDirect")


def expectations(
    pool: Pool,
    *,
    given: Mapping[str, GivenThreshold] | None = None,
    tries: int = 3,
    sweep: Sweep = "short",
    node_preparation: bool = False,
) -> Expectations:
    """What every node of the pool and the pool as a whole have to show, as JSON-able data.

    hcas.rate_gbps is the signalling rate in Gb/s. figures are those that the payload measures, thresholds what they are
    judged by; not_measured names figures that belong to a pool of this size and that nobody means to measure.
    given: thresholds of the stack file, by figure.
    tries: how often what falls short is measured in all.
    sweep: which message sizes all-reduce is measured with.
    node_preparation: whether the memlock limit is lifted for every user.
    """
    figures = _figures(pool)
    collective = collective_expectations(pool, given, sweep)
    found = {
        "pool": pool.name,
        "vm_size": pool.size.name,
        "mode": pool.mode,
        "node_count": pool.node_count,
        "hcas": {"count": pool.size.infiniband.hca_count, "rate_gbps": pool.size.infiniband.rate_gbps},
        "accelerators": _accelerators(pool),
        "rdma_resource": pool.rdma_resource,
        "interfaces": ipoib_interfaces(pool),
        "environment": nccl_environment(),
        "shm_bytes": SHM_BYTES,
        "memlock_for_all": node_preparation,
        "figures": figures,
        "thresholds": thresholds(pool.size, figures, given),
        "tries": tries,
        "collective": collective,
        "not_measured": list(_ACCELERATOR_FIGURES) if pool.size.accelerator and not collective else [],
    }
    return cast("Expectations", found)


def _figures(pool: Pool) -> list[str]:
    """Names of the figures that are measured on the pool; all-reduce is judged by its own data."""
    networks = ("rdma-", "ipoib-", "pod-network-") if pool.mode == "ipoib" else ("rdma-",)
    return [name for name in FIGURES if name.startswith(networks)]


def ipoib_interfaces(pool: Pool) -> list[str]:
    """The interfaces that a pod of the pool has beside eth0: one for each IPoIB network, as Multus names them."""
    return [f"net{number}" for number, _ in enumerate(pool.ipoib_networks, start=1)] if pool.mode == "ipoib" else []


def _accelerators(pool: Pool) -> dict[str, Any] | None:
    """What a pod holds of them; None where the machines have none, or nobody here drives those that they have."""
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None:
        return None
    return {
        "resource": pool.gpu_resource,
        "count": accelerator.count,
        "device_pattern": _DEVICE_PATTERNS[accelerator.vendor],
    }


def promised_labels(pool: Pool) -> dict[str, str]:
    """Labels that every node has once it is ready: in mode driver-only no resource tells that the driver is there."""
    waits = pool.mode == "driver-only" and pool.nic_driver == "doca-ofed"
    return dict(DRIVER_READY) if waits else {}
