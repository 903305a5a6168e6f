"""The duration of a simulated all-reduce, and its transport: from the facts on the machines of the job.

Figures: between two machines with GB300 of one NVLink domain 594 (kubernetes-sigs/dranet, GB300 README, an edition
read 2026-11-23). A ring over healthy HCAs reaches 187 of the 200 GB/s that the ports of a Standard_ND96asr_v4 carry,
and 3.1 over TCP (AKS InfiniBand guide, tests/expected-output.md); without GPUDirect RDMA 4 instead of 186 (Azure/AKS
issue 3507); within a host 350 (two H200s, docs/measurements.md). Two machines with MI300X reach 67.7 of 400 untuned,
by RCCL's choice (records/facts.yaml); that a ring does no better is assumed. Over InfiniBand alone machines with GB200
or GB300 are expected to reach 200 of 400 (Azure/ai-infrastructure-on-azure, facts/baselines/published.yaml); that a
ring does no better, and two machines as well as a rack, is assumed: one run of two had 88.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rehearsal.machines.gpu_libraries import machine

_RING_SHARE = 187 / 200
_RCCL_SHARE = 67.7 / 400
_RACK_SHARE = 200 / 400
_STAGED_SHARE = 4 / 186
_SOCKETS_GB_PER_S = 3.1
_NVLINK_GB_PER_S = 350.0
_CONGESTED = 3
_MULTI_NODE_NVLINK_GB_PER_S = 594.0
_CHOICE_GAIN = 1.05
"""NCCL's own choice between a few nodes is not a ring, and looks faster (NVIDIA/nccl-tests issue 196)."""

Facts = Mapping[str, Any]


class Clock:
    """Simulated seconds since the process began."""

    seconds = 0.0


clock = Clock()


class Stream:
    """The operations that were queued on the GPU and are not done yet."""

    def __init__(self) -> None:
        """Nothing yet."""
        self._queued: list[Callable[[], bool]] = []

    def queue(self, work: Callable[[], bool]) -> None:
        """Have something done after everything before; it says whether it came to its end."""
        self._queued.append(work)

    def finish(self) -> bool:
        """Do everything; whether all came to its end. An operation that did not is never done."""
        while self._queued and self._queued[0]():
            self._queued.pop(0)
        return not self._queued


stream = Stream()


class Capture:
    """The operations that are queued while a graph is captured, instead of being done; None without a capture."""

    def __init__(self) -> None:
        """No graph is being captured."""
        self.queued: list[Callable[[], int]] | None = None


capture = Capture()


class Work:
    """The GPU that this process has chosen, and the flags for its being open and making products."""

    number = 0
    is_open = False
    makes_products = False


work = Work()


class Fabric(NamedTuple):
    """The connection of one job's ranks."""

    transport: str
    """P2P within a machine, MNNVL for NVLink between machines, IB or Socket."""
    direct: bool
    gb_per_s: float
    """Bus bandwidth of a large message."""
    latency_seconds: float
    congestion: float = 1.0
    """The share of the bandwidth that one of three all-reduces has."""

    def seconds(self, size_bytes: int, ranks: int, number: int = 0) -> float:
        """Duration of one all-reduce. number: its place among all."""
        share = self.congestion if number % _CONGESTED == 1 else 1.0
        return self.latency_seconds + size_bytes * 2 * (ranks - 1) / ranks / (self.gb_per_s * share * 1e9)


class UnreachableError(Exception):
    """Some ranks cannot connect."""


def one_clique(ranks: Sequence[Facts]) -> bool:
    """True if NVLink reaches from every rank to every other one: the same cluster and clique (NCCL, src/mnnvl.cc)."""
    return all(rank.get("nvlink") for rank in ranks) and len({_clique(rank) for rank in ranks}) == 1


def _clique(rank: Facts) -> tuple[str, int]:
    return rank["nvlink"]["cluster"], rank["nvlink"]["clique"]


def fabric_of(ranks: Sequence[Facts]) -> Fabric:
    """The connection of these ranks, each given by node, hcas and the ways to its GPU. Raises UnreachableError."""
    nodes = {rank["node"]: rank for rank in ranks}
    ring = os.environ.get("NCCL_ALGO", "").lower() == "ring"
    hops = len(ranks) if ring else len(ranks).bit_length()
    if len(nodes) == 1:
        return Fabric("P2P", True, _NVLINK_GB_PER_S, 20e-6 + hops * 1e-6)
    if one_clique(ranks):
        return Fabric("MNNVL", True, _MULTI_NODE_NVLINK_GB_PER_S, 20e-6 + hops * 1e-6)
    with_hcas = [node for node, rank in nodes.items() if rank["hcas"]]
    if with_hcas and len(with_hcas) < len(nodes):
        raise UnreachableError
    if not with_hcas:
        return Fabric("Socket", False, _SOCKETS_GB_PER_S, 100e-6 + hops * 50e-6)
    if any(lost_rails(one, other) for one in nodes.values() for other in nodes.values()):
        raise UnreachableError
    direct = all(rank["ways"] for rank in nodes.values())
    rails = _share(ranks, ring=ring) * (1 if direct else _STAGED_SHARE) * min(map(_rails, nodes.values()))
    congestion = min(rank.get("congestion", 1.0) for rank in nodes.values())
    return Fabric("IB", direct, rails, 30e-6 + hops * 4e-6, congestion)


def _share(ranks: Sequence[Facts], *, ring: bool) -> float:
    """The share of the ports' rate of a machine that an all-reduce reaches."""
    if machine.is_rocm():
        return _RCCL_SHARE
    if any(rank.get("nvlink") for rank in ranks):
        return _RACK_SHARE
    return _RING_SHARE * (1 if ring else _CHOICE_GAIN)


def lost_rails(one: Facts, other: Facts) -> list[str]:
    """The HCAs of one node whose packets do not reach those of the other, or the other way round."""
    pairs = zip(one["hcas"], other["hcas"], strict=False)
    return [mine["name"] for mine, theirs in pairs if mine["link"] == "IB" and mine["partition"] != theirs["partition"]]


def _rails(rank: Facts) -> float:
    """The rate of a node's HCAs together: every rail gets as much as the slowest."""
    slowest: float = min(hca["gb_per_s"] for hca in rank["hcas"])
    return len(rank["hcas"]) * slowest
