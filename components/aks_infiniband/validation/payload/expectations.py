"""What a pool and every node of it have to show, as its pods are told: made by validation/expectations.py."""

from __future__ import annotations

from typing import Literal, TypedDict

from .checks import Threshold, Thresholds


class Accelerators(TypedDict):
    """What a pod holds of a machine's accelerators; device_pattern is of their files below /dev."""

    resource: str
    count: int
    device_pattern: str


class Ports(TypedDict):
    """How many HCAs a machine has, and their signalling rate in Gb/s."""

    count: int
    rate_gbps: float


class CollectivePlan(TypedDict):
    """How the all-reduce is measured, and what it is held against. Times are in seconds, thresholds by transport."""

    through: Literal["nccl", "pytorch"]
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


class Expectations(TypedDict):
    """What every node of a pool, and the pool as a whole, have to show."""

    pool: str
    vm_size: str
    mode: str
    node_count: int
    hcas: Ports
    accelerators: Accelerators | None
    rdma_resource: str | None
    interfaces: list[str]
    environment: dict[str, str]
    shm_bytes: int
    memlock_for_all: bool
    figures: list[str]
    thresholds: Thresholds
    tries: int
    collective: CollectivePlan | None
    not_measured: list[str]
