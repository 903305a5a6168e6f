"""What a pool promises, computed from the catalogue: the data against which the payload judges."""

from typing import Any, Final

from aks_infiniband.pool import Pool
from aks_infiniband.workload import nccl_environment

SHM_BYTES: Final = 1 << 30
"""Least size of /dev/shm: what NVIDIA's framework containers ask for (`--shm-size=1g`); by default it is 64 MiB."""

_DEVICE_PATTERNS: Final = {"nvidia": r"nvidia\d+", "amd": r"dri/renderD\d+"}
"""Files below /dev, one for each accelerator, as the vendors' device plugins mount them."""

_FABRIC_FIGURES: Final = ("bandwidth", "latency")
_ACCELERATOR_FIGURES: Final = ("all-reduce", "GPUDirect")


def expectations(pool: Pool) -> dict[str, Any]:
    """What every node of the pool and the pool as a whole have to show, as JSON-able data.

    hcas.rate_gbps is the signalling rate in Gb/s. not_measured names the figures that belong to a pool of this size and
    that the payload does not measure.
    """
    accelerator = pool.size.accelerator
    return {
        "pool": pool.name,
        "vm_size": pool.size.name,
        "node_count": pool.node_count,
        "hcas": {"count": pool.size.infiniband.hca_count, "rate_gbps": pool.size.infiniband.rate_gbps},
        "accelerators": accelerator
        and {
            "resource": accelerator.resource_name,
            "count": accelerator.count,
            "device_pattern": _DEVICE_PATTERNS[accelerator.vendor],
        },
        "rdma_resource": pool.rdma_resource,
        "environment": nccl_environment(),
        "shm_bytes": SHM_BYTES,
        "not_measured": [*_FABRIC_FIGURES, *(_ACCELERATOR_FIGURES if accelerator else ())],
    }


def promised_resources(pool: Pool) -> dict[str, int]:
    """Least allocatable amount of each extended resource on every node: all accelerators, and any RDMA device.

    A shared device plugin's number says how many pods may share, not how many HCAs there are, so one pod's worth of it
    is all that can be asked.
    """
    accelerator = pool.size.accelerator
    accelerators = {} if accelerator is None else {accelerator.resource_name: accelerator.count}
    return {**accelerators, pool.rdma_resource: pool.rdma_quantity}
