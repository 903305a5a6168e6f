"""The all-reduce as JSON-able data: how it is measured, what its ranks leave, and the runs in the report."""

from __future__ import annotations

from typing import TypedDict

from .checks import Threshold, Try


class CollectivePlan(TypedDict):
    """How the all-reduce is measured, and what it is held against. Times are in seconds."""

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
    """By transport: infiniband, nvlink."""
    small: Threshold | None


class Evidence(TypedDict):
    """What NCCL's log says it does; None or empty where it says nothing."""

    library: str | None
    network: str | None
    ranks: int | None
    nodes: int | None
    channels: dict[str, int]
    proxied: dict[str, int]
    devices: dict[str, str | None]
    dma_buf: bool
    nvls_channels: int
    warnings: list[str]


class Size(TypedDict):
    """One message size of an all-reduce."""

    bytes: int
    iterations: int
    seconds: float
    algorithm_gb_per_s: float
    bus_gb_per_s: float
    wrong: int
    """Elements that are not the sum."""


class Small(TypedDict):
    """Small all-reduces in a row, and the seconds that all of them took."""

    bytes: int
    repeats: int
    seconds: float


class Failure(TypedDict):
    """How a rank ended that did not come to its end."""

    reason: str
    own: bool
    """Whether it ended by itself: else its launcher ended it."""
    output: str | None
    """The end of what it printed."""
    part: str
    """Its part in the failure of all, see collective_run.py."""
    cause: str


class PlacedFailure(Failure):
    """Whose failure it is, and the message size that the rank had reached."""

    node: str
    gpu: int
    rank: int
    reached_bytes: int | None


class Rank(TypedDict, total=False):
    """What one rank leaves; the figures are the same on every rank."""

    rank: int
    gpu: int
    torch: str | None
    reached_bytes: int | None
    wrong: int | None
    sizes: list[Size]
    small: Small | None
    stopped: str | None
    error: str | None
    failure: Failure | None


class NodeRun(TypedDict):
    """One node's part of a run."""

    node: str
    node_rank: int
    tuning: str
    torch: str | None
    sizes: list[Size]
    small: Small | None
    stopped: str | None
    seconds: float
    evidence: Evidence
    ranks: list[Rank]


class Wrong(TypedDict):
    """A GPU on which elements were not the sum, and how many."""

    node: str
    gpu: int
    elements: int


class Run(TypedDict, total=False):
    """One run of the all-reduce over all nodes, as it stands in the report."""

    tuning: str
    nodes: list[str]
    ranks: int
    ranks_per_node: int
    torch: str | None
    library: str | None
    transport: str
    evidence: Evidence
    transports: dict[str, str]
    devices: dict[str, list[str]]
    sizes: list[Size]
    small: Small | None
    stopped: str | None
    seconds: float
    wrong: list[Wrong]
    failures: list[PlacedFailure]
    tries: list[Try]


class Collective(TypedDict, total=False):
    """All runs of the all-reduce, and what they are held against."""

    runs: list[Run]
    line_gb_per_s: float
    thresholds: dict[str, Threshold | None]
