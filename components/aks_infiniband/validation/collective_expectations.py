"""What a pool's all-reduce is measured with and held against: made outside the pods, as plain data for them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from aks_infiniband.facts.baselines import FIGURES, Baseline, GivenThreshold, baselines_of
from aks_infiniband.facts.catalog import MachineSize
from aks_infiniband.facts.pool import Pool
from aks_infiniband.validation.options import Sweep
from aks_infiniband.validation.payload.nccl_log import INFINIBAND_DIRECT

_MIB: Final = 1 << 20
_GIB: Final = 1 << 30
_SHORT: Final = (8, _MIB, 64 * _MIB, _GIB)
"""Latency, the knee, and the plateau; the size that is judged comes on top."""
_FULL: Final = tuple(8 << shift for shift in range(32))
"""8 B to 16 GiB by twos, as nccl-tests' `-b 8 -e 16G -f 2`."""
_LARGEST: Final = 8 * _GIB
"""Judged where a threshold names no size: it fits each GPU of the catalogue, and bandwidth no longer grows there
(docs/measurements.md: 8 GiB and 16 GiB differ by less than 1 %)."""

_RING_EXPECTED: Final = 0.95
_RING_WARN: Final = 0.9
"""Of all ports' line rate, for a ring. The AKS guide's 187 of 200 GB/s on two A100 machines is 0.935."""


def collective_expectations(
    pool: Pool, given: Mapping[str, GivenThreshold] | None = None, sweep: Sweep = "short"
) -> dict[str, Any] | None:
    """The plan and the thresholds of a pool; None where nobody offers GPUs, or there are none.

    given: what the stack file says, by figure: it replaces the catalogue's.
    """
    accelerator = pool.size.accelerator
    if accelerator is None or pool.gpu_resource is None:
        return None
    thresholds = {
        transport: _threshold(pool.size, "all-reduce", pool.node_count, transport, given)
        for transport in ("infiniband", "nvlink")
    }
    return {
        "sizes": _sizes(sweep, thresholds["infiniband" if pool.node_count > 1 else "nvlink"]),
        "iterations": 20,  # nccl-tests' own numbers
        "warmup": 5,
        "seconds": 240 if sweep == "short" else 480,
        "size_seconds": 15,
        "operation_seconds": 120,
        "ranks_per_node": accelerator.count,
        "hcas": pool.size.infiniband.hca_count,
        "transport": INFINIBAND_DIRECT,
        "line_gb_per_s": line_gb_per_s(pool.size),
        "thresholds": thresholds,
        "small": _threshold(pool.size, "all-reduce-small", pool.node_count, "infiniband", given),
    }


def line_gb_per_s(size: MachineSize) -> float:
    """What all HCAs of a machine carry together, one way, in GB/s: the most that a ring's bus bandwidth can be."""
    return size.infiniband.hca_count * size.infiniband.rate_gbps / 8


def for_ring(row: Baseline, size: MachineSize) -> Baseline:
    """A threshold as it holds for the ring algorithm.

    Limits for a switch that adds up (SHARP) lie above what a ring can carry over the same ports; what does is replaced
    by a share of the ports' line rate, and the row says so. Where it fails stays as it is published.
    """
    line = line_gb_per_s(size)
    if max(row.warn or 0.0, row.expected or 0.0) < line:
        return row
    note = f"expected and warn: {_RING_EXPECTED:.0%} and {_RING_WARN:.0%} of the ports' {line:g} GB/s, for a ring"
    return replace(row, expected=line * _RING_EXPECTED, warn=line * _RING_WARN, source=f"{row.source}; {note}")


def _threshold(
    size: MachineSize,
    figure: str,
    node_count: int,
    transport: str,
    given: Mapping[str, GivenThreshold] | None,
) -> dict[str, Any] | None:
    rows = [
        row
        for row in baselines_of(size)
        if row.figure == figure and row.transport == transport and _of_so_many(row, node_count)
    ]
    own = (given or {}).get(figure)
    if not rows and own is None:
        return None
    row = for_ring(rows[0], size) if rows and transport == "infiniband" and figure == "all-reduce" else _first(rows)
    kind = FIGURES[figure]
    published = {**asdict(row), "vm_sizes": list(row.vm_sizes)} if row else {"message_bytes": None}
    found: dict[str, Any] = {"unit": kind.unit, "better": kind.better, **published}
    if own is not None:
        found |= {"warn": own.warn, "fail": own.fail, "basis": "given", "source": "the stack file"}
    return found


def _of_so_many(row: Baseline, node_count: int) -> bool:
    return row.nodes == node_count or (row.nodes is None and node_count > 1)


def _first(rows: Sequence[Baseline]) -> Baseline | None:
    return rows[0] if rows else None


def _sizes(sweep: Sweep, threshold: Mapping[str, Any] | None) -> list[int]:
    judged = (threshold or {}).get("message_bytes") or _LARGEST
    return sorted({*(_SHORT if sweep == "short" else _FULL), judged})
