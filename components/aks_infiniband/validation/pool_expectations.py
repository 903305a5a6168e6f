"""The expectations of a pool, computed from the catalogue: the data by which the payload judges."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, cast

from aks_infiniband.facts.baselines import FIGURES, Baseline, GivenThreshold
from aks_infiniband.facts.baselines.choice import baselines_of, threshold, thresholds
from aks_infiniband.facts.catalog.machine import MachineSize
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.options import Sweep, ValidationOptions
from aks_infiniband.validation.payload.collective.nccl_log import INFINIBAND_DIRECT
from aks_infiniband.validation.payload.look.counters import Unread
from aks_infiniband.validation.payload.say.expectations import Expectations
from aks_infiniband.workload.pods import DRIVER_READY, pool_environment

SHM_BYTES: Final = 1 << 30
"""Least size of /dev/shm. NVIDIA's framework containers need it (`--shm-size=1g`); by default it is 64 MiB."""

_DEVICE_PATTERNS: Final = {"nvidia": r"nvidia\d+", "amd": r"dri/renderD\d+"}
"""By vendor, a pattern of the files below /dev: one for each accelerator, as the vendors' device plugins mount them."""

_ACCELERATOR_FIGURES: Final = ("all-reduce", "GPUDirect")


def expectations(
    pool: Pool,
    *,
    given: Mapping[str, GivenThreshold] | None = None,
    tries: int = 3,
    sweep: Sweep = "short",
    burn_in: int | None = None,
    node_preparation: bool = False,
    error_counters: Unread = "warn",
) -> Expectations:
    """The expectations of every node of the pool and of the pool as a whole, as JSON-able data.

    hcas.rate_gbps is the signalling rate in Gb/s. figures names the measured figures, thresholds has their limits, and
    not_measured names figures that a pool of this size does not have by design. given: thresholds of the stack file, by
    figure. tries: the most measurements of a figure that falls short. sweep: the message sizes of all-reduce. burn_in:
    minutes under load for GPUs; without it some seconds. node_preparation: True if the memlock limit is lifted for
    every user. error_counters: the consequence for a node whose error counters cannot be read.
    """
    figures = _figures(pool)
    collective = collective_expectations(pool, given, sweep)
    wanted = {
        "pool": pool.name,
        "vm_size": pool.size.name,
        "mode": pool.mode,
        "node_count": pool.node_count,
        "hcas": {"count": pool.size.infiniband.hca_count, "rate_gbps": pool.size.infiniband.rate_gbps},
        "accelerators": _accelerators(pool),
        "nvlink": pool.size.nvlink_domain if pool.has_compute_domain else None,
        "rdma_resource": pool.rdma_resource,
        "interfaces": pool.ipoib_interfaces,
        "environment": pool_environment(pool),
        "shm_bytes": SHM_BYTES,
        "memlock_for_all": node_preparation,
        "figures": figures,
        "thresholds": thresholds(pool.size, figures, given),
        "tries": tries,
        "collective": collective,
        "gpus": _gpus(pool, burn_in),
        "error_counters": error_counters,
        "not_measured": list(_ACCELERATOR_FIGURES) if pool.size.accelerator and not collective else [],
    }
    return cast("Expectations", wanted)


def expected_of(pool: Pool, options: ValidationOptions, *, node_preparation: bool) -> Expectations:
    """The expectations of a pool if its validation has these options."""
    return expectations(
        pool,
        given=options.thresholds,
        tries=options.tries,
        sweep=options.sweep,
        burn_in=options.burn_in,
        node_preparation=node_preparation,
        error_counters=options.error_counters,
    )


def _figures(pool: Pool) -> list[str]:
    """Names of the figures that are measured on the pool; all-reduce is judged by its own data."""
    networks = ("rdma-", "ipoib-", "pod-network-") if pool.access.networks else ("rdma-",)
    return [name for name in FIGURES if name.startswith(networks)]


def _accelerators(pool: Pool) -> dict[str, Any] | None:
    """The GPUs that a pod holds; None if the machines have none, or no device plugin offers them."""
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None:
        return None
    return {
        "resource": pool.gpu_resource,
        "count": accelerator.count,
        "device_pattern": _DEVICE_PATTERNS[accelerator.vendor],
    }


_LOAD_SECONDS: Final = 6
"""Time in addition to 2 s to warm up. On two H100 of one host all of it took 10 s, and an H100 was at its limit of
power from the first second on (docs/measurements.md).
"""


def _gpus(pool: Pool, burn_in: int | None) -> dict[str, Any] | None:
    """The load of a pool's GPUs; None without GPUs of NVIDIA that a device plugin offers."""
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None or accelerator.vendor != "nvidia":
        return None
    return {"count": accelerator.count, "seconds": _LOAD_SECONDS if burn_in is None else 60 * burn_in}


def promised_labels(pool: Pool) -> dict[str, str]:
    """Labels that every node has once it is ready. Mode driver-only needs one, because no resource there shows that the
    driver works.
    """
    waits = pool.access.privileged and pool.nic_driver == "doca-ofed"
    return dict(DRIVER_READY) if waits else {}


_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_SHORT: Final = (8, _MIB, 64 * _MIB, _GIB)
"""Message sizes for latency, the knee and the plateau. The size that is judged is added."""
_FULL: Final = tuple(8 << shift for shift in range(32))
"""8 B to 16 GiB by twos, as nccl-tests' `-b 8 -e 16G -f 2`."""
_LARGEST: Final = 8 * _GIB
"""The message size that is judged if a threshold names none. The size fits each GPU of the catalogue, and bandwidth no
longer grows there (docs/measurements.md: 8 GiB and 16 GiB differ by less than 1 %).
"""

_RING_EXPECTED: Final = 0.95
_RING_WARN: Final = 0.9
"""Share of all ports' line rate that a ring has to reach. The AKS guide's 187 of 200 GB/s on two A100 machines is
0.935.
"""


def collective_expectations(
    pool: Pool,
    given: Mapping[str, GivenThreshold] | None = None,
    sweep: Sweep = "short",
) -> dict[str, Any] | None:
    """The plan and the thresholds of a pool; None without GPUs that a device plugin offers.

    given: thresholds of the stack file, by figure. Given thresholds replace the catalogue's.
    """
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None:
        return None
    bounds = {
        "infiniband": _threshold(pool, "all-reduce", "infiniband", given),
        "nvlink": _threshold(pool, "all-reduce-nvlink" if pool.has_compute_domain else "all-reduce", "nvlink", given),
    }
    judged = (bounds["infiniband" if pool.node_count > 1 else "nvlink"] or {}).get("message_bytes") or _LARGEST
    return {
        "sizes": sorted({*(_SHORT if sweep == "short" else _FULL), judged}),
        "iterations": 20,  # nccl-tests' own numbers
        "warmup": 5,
        "seconds": 240 if sweep == "short" else 480,
        "size_seconds": 15,
        "operation_seconds": 120,
        "ranks_per_node": accelerator.count,
        "hcas": pool.size.infiniband.hca_count,
        "transport": INFINIBAND_DIRECT,
        "line_gb_per_s": line_gb_per_s(pool.size),
        "thresholds": bounds,
        "small": _threshold(pool, "all-reduce-small", "infiniband", given),
        "pairs": _pairs(pool),
    }


def _pairs(pool: Pool) -> dict[str, Any] | None:
    """The plan for pairs of nodes. None for a pool of two nodes, because the all-reduce measures that pair."""
    if pool.node_count < 3:
        return None
    bound = _threshold(pool.changed(node_count=2), "all-reduce", "infiniband", None)
    return {"bytes": (bound or {}).get("message_bytes") or _LARGEST, "seconds": 60, "rounds": 3, "threshold": bound}


def line_gb_per_s(size: MachineSize) -> float:
    """The rate of all HCAs of a machine together in one direction, in GB/s. A ring's bus bandwidth cannot be more."""
    return size.infiniband.hca_count * size.infiniband.rate_gbps / 8


def for_ring(row: Baseline, size: MachineSize) -> Baseline:
    """A threshold as it holds for the ring algorithm.

    A limit that was published for a switch that adds up (SHARP) can lie above what a ring carries over the same ports.
    Such a limit for warnings is replaced by a share of the ports' line rate, and the row says so. The limit for
    failures stays as it is published.
    """
    line = line_gb_per_s(size)
    if max(row.warn or 0.0, row.expected or 0.0) < line:
        return row
    note = f"expected and warn: {_RING_EXPECTED:.0%} and {_RING_WARN:.0%} of the ports' {line:g} GB/s, for a ring"
    return replace(row, expected=line * _RING_EXPECTED, warn=line * _RING_WARN, source=f"{row.source}; {note}")


def _threshold(
    pool: Pool, figure: str, transport: str, given: Mapping[str, GivenThreshold] | None
) -> dict[str, Any] | None:
    row = next((row for row in baselines_of(pool.size) if _is_of(row, figure, transport, pool.node_count)), None)
    if row and transport == "infiniband" and figure == "all-reduce":
        row = for_ring(row, pool.size)
    return threshold(figure, row, (given or {}).get(figure))


def _is_of(row: Baseline, figure: str, transport: str, node_count: int) -> bool:
    nodes = row.nodes == node_count or (row.nodes is None and node_count > 1)
    return nodes and (row.figure, row.transport) == (figure, transport)
