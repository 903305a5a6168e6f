"""What the parts of a validation hand one another, as JSON-able data: facts, expectations, runs, the report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from .checks import Check, Thresholds, Try
from .collective_documents import Collective, CollectivePlan

Counters = dict[str, dict[str, int]]
"""Device to error counter to value."""


class Hca(TypedDict):
    """One InfiniBand port; None for what the kernel does not say."""

    device: str
    state: str | None
    physical_state: str | None
    rate_gbps: float | None
    partition_keys: list[str]


class Interface(TypedDict):
    """One network interface of a pod, and its addresses that Multus has noted."""

    infiniband: bool
    addresses: list[str]


class Libibverbs(TypedDict):
    """State and link layer of every port that libibverbs sees, by device; None where it could not be asked."""

    ports: dict[str, list[dict[str, str]]] | None
    said: str | None
    """What the tool said where it did not end well."""


class NodeFacts(TypedDict):
    """What the kernel shows of one node."""

    hcas: list[Hca]
    ethernet_devices: list[str]
    uverbs: list[str]
    uverbs_of: dict[str, str]
    accelerator_devices: list[str]
    memlock_bytes: int | None
    ipc_lock: bool
    shm_bytes: int | None
    environment: dict[str, str]
    interfaces: dict[str, Interface]
    kernel: str | None


class Facts(NodeFacts):
    """Everything that a pod says of its node."""

    tools: Mapping[str, object]
    verbs: Libibverbs
    memlock_bytes_non_root: int | None
    counters: Counters
    versions: dict[str, str]


FactsByNode = Mapping[str, Facts]


class Ports(TypedDict):
    """How many HCAs a machine has, and their signalling rate in Gb/s."""

    count: int
    rate_gbps: float


class Accelerators(TypedDict):
    """What a pod holds of a machine's accelerators; device_pattern is of their files below /dev."""

    resource: str
    count: int
    device_pattern: str


class Expectations(TypedDict):
    """What every node of a pool, and the pool as a whole, have to show: see validation/expectations.py."""

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


class Row(TypedDict, total=False):
    """One figure that was measured, with all its tries: between two HCAs, or over a network (the interface)."""

    figure: str
    node: str
    device: str
    peer: str
    peer_device: str
    network: str
    value: float | None
    tries: list[Try]
    neighbours: bool


class Accepted(TypedDict):
    """When a pool was accepted, and its worst value of each figure then."""

    finished: str
    values: dict[str, float]


class Parts(TypedDict, total=False):
    """What was measured."""

    rdma: list[Row]
    networks: list[Row]
    collective: Collective | None
    counters: dict[str, Counters]
    accepted: Accepted | None


class Coverage(TypedDict):
    """How much of what was to be looked at was looked at."""

    nodes: dict[str, int]
    hcas: dict[str, int]
    not_measured: list[str]
    not_judged: list[str]
    summary: str


class Report(Parts):
    """The report of one run; `run` is the Job's uid, `finished` a time in ISO 8601."""

    schema_version: int
    pool: str
    vm_size: str
    run: str
    mode: str
    finished: str
    verdict: str
    coverage: Coverage
    checks: list[Check]
    thresholds: Thresholds
    nodes: dict[str, Facts]
