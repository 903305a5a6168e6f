"""The requirements for a pool and every node of it, in the form for its pods, and the judgement of a limit.

The documents are made by validation/pool_expectations.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing import NotRequired


class Threshold(TypedDict, total=False):
    """The limits of a figure, and their source: a row of the baselines, or the user's values."""

    unit: str
    better: str
    """higher or lower."""
    expected: float | None
    warn: float | None
    fail: float | None
    basis: str
    source: str
    message_bytes: int | None


Thresholds = Mapping[str, Threshold]
"""Thresholds by figure. A figure without one is measured and not judged."""


class Accelerators(TypedDict):
    """The accelerators of a machine that a pod holds. device_pattern matches their files below /dev."""

    resource: str
    count: int
    device_pattern: str


class Ports(TypedDict):
    """The number of a machine's HCAs, and their signalling rate in Gb/s."""

    count: int
    rate_gbps: float


class PairsPlan(TypedDict):
    """The plan for pairs of nodes: one message size, so many seconds and so many rounds at most.

    threshold: the figure that any two nodes of the size have to reach; None if it is not published.
    """

    bytes: int
    seconds: float
    rounds: int
    threshold: Threshold | None


class GpusPlan(TypedDict):
    """The load of a node's GPUs: their number, and the seconds in addition to those to warm up."""

    count: int
    seconds: float


class CollectivePlan(TypedDict):
    """The plan of the all-reduce, and its limits. Times are in seconds, thresholds by transport."""

    sizes: list[int]
    iterations: int
    warmup: int
    seconds: float
    size_seconds: float
    operation_seconds: float
    ranks_per_node: int
    hcas: int
    transport: str
    line_gb_per_s: float
    thresholds: dict[str, Threshold | None]
    small: Threshold | None
    pairs: NotRequired[PairsPlan | None]


class Expectations(TypedDict):
    """The requirements for every node of a pool, and for the pool as a whole.

    node_count: of the nodes that take part. pool_nodes: of the whole pool, if a part of it is measured.
    """

    pool: str
    vm_size: str
    mode: str
    node_count: int
    pool_nodes: NotRequired[int]
    hcas: Ports
    accelerators: Accelerators | None
    nvlink: int | None
    """Machines of one NVLink domain; None if NVLink ends at the machine."""
    rdma_resource: str | None
    interfaces: list[str]
    environment: dict[str, str]
    shm_bytes: int
    memlock_for_all: bool
    figures: list[str]
    thresholds: Thresholds
    tries: int
    collective: CollectivePlan | None
    gpus: NotRequired[GpusPlan | None]
    not_measured: list[str]
    error_counters: Literal["enforce", "warn", "off"]


def read_expectations(own: Path, common: Path | None) -> Expectations:
    """The expectations of a pool, read from its own file and, if it exists, from that of its kind."""
    expected: Expectations = json.loads(own.read_text(encoding="utf-8"))
    if common:
        expected = json.loads(common.read_text(encoding="utf-8")) | expected
    return expected


def less_is_better(figure: str, thresholds: Thresholds) -> bool:
    """True if less of a figure is better. Its threshold says so; without one, less is better for every latency."""
    usual = "lower" if figure.endswith("latency") else "higher"
    return thresholds.get(figure, {}).get("better", usual) == "lower"


def falls_short(value: float, threshold: Threshold | None, level: str = "fail") -> bool:
    """True if a value is worse than a threshold's level, warn or fail; never without a level."""
    if threshold is None:
        return False
    limit = threshold.get("warn") if level == "warn" else threshold.get("fail")
    if limit is None:
        return False
    return value < limit if threshold["better"] == "higher" else value > limit


def verdict_on(value: float, threshold: Threshold | None) -> str:
    """``pass``, ``warn`` or ``fail``; ``not judged`` without a threshold."""
    if threshold is None:
        return "not judged"
    return next((level for level in ("fail", "warn") if falls_short(value, threshold, level)), "pass")


def limit_of(threshold: Threshold, note: str | None = None, *, level: str = "fail") -> str | None:
    """A threshold in words, such as `at least 380 Gb/s (quoted)`; None without a limit.

    note: text in brackets in place of the threshold's basis. level: fail or warn; the other one if this level is
    absent.
    """
    limits = [threshold.get("fail"), threshold.get("warn")]
    limit = next((limit for limit in (limits if level == "fail" else limits[::-1]) if limit is not None), None)
    if limit is None:
        return None
    word = "at least" if threshold["better"] == "higher" else "at most"
    return f"{word} {limit:g} {threshold['unit']} ({note or threshold['basis']})"
