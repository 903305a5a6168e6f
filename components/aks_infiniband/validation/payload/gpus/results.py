"""The findings on one GPU: its identity, NVML's facts, and its rate and bandwidths while all GPUs work."""

from __future__ import annotations

from typing import TypedDict

from ..say.steadiness import Spread


class Pcie(TypedDict):
    """The PCIe link while data moves over it, and the best that GPU and machine could have; None if NVML does not
    report it.
    """

    generation: int | None
    width: int | None
    most_generation: int | None
    most_width: int | None


class Memory(TypedDict):
    """Errors of a GPU's memory: uncorrected ones since the driver was loaded, and rows that spare ones replaced.

    pending: rows wait for a reset of the GPU to be replaced. failed: no spare row was left.
    """

    uncorrected: int | None
    remapped: int | None
    pending: bool | None
    failed: bool | None


class Others(TypedDict):
    """The most work of others on a GPU while it was measured, as NVML reports it; None if it does not.

    processes: without ours. mebibytes: of its memory, without ours. busy: the share of time in which it worked before
    our own work began.
    """

    processes: int | None
    mebibytes: int | None
    busy: float | None


class Load(TypedDict):
    """A GPU under load. Rate in TFLOP/s of windows of products, power in W, clocks in MHz, temperature in °C.

    reasons: of lower clocks, with the share of readings under load that had them. begin and end: the medians of the
    first and the last fifth.
    """

    seconds: float
    precision: str
    order: int
    rate: Spread
    begin: float
    end: float
    power: Spread | None
    power_limit: float | None
    sm_clock: Spread | None
    most_sm_clock: int | None
    memory_clock: Spread | None
    temperature: Spread | None
    reasons: dict[str, float]


class Gpu(TypedDict, total=False):
    """One GPU of a node. number: CUDA's. index: NVML's, nvidia-smi's.

    pcie, memory, others and nvlinks are NVML's; to_host, from_host and to_peer are in GB/s (10**9 bytes), one way, and
    to_host and from_host the better of two turns, in which no other GPU of the node copied. said: why something was not
    measured. problem: why this GPU came to no end, and cause what lies behind.
    """

    number: int
    index: int | None
    pci: str | None
    uuid: str | None
    serial: str | None
    model: str | None
    pcie: Pcie
    memory: Memory
    others: Others
    nvlinks: int | None
    load: Load
    to_host: Spread
    from_host: Spread
    to_peer: Spread
    said: list[str]
    problem: str | None
    cause: str | None


class NodeGpus(TypedDict):
    """The GPUs of one node, and how long they took in seconds."""

    node: str
    seconds: float
    gpus: list[Gpu]
