"""The ranks of a job that reduce together: they meet, find out what connects them, and exchange what they hold."""

import os
from typing import Any

from rehearsal.machines.gpu_libraries import machine, nccl_log, simulation
from rehearsal.machines.gpu_libraries.star import Star, StarError

GONE = "remote process exited or there was a network error"
INVALID = "invalid usage"
SYSTEM = "unhandled system error"
_CLOSED = "socketProgress: Connection closed by remote peer "
"""Without a name: the socket has none any more (tests/field_recordings/ranks.yaml)."""


class NcclError(Exception):
    """NCCL's report: the problem, in the words of its result, and its last words."""

    def __init__(self, problem: str, last: str) -> None:
        super().__init__(problem)
        self.problem, self.last = problem, last


class Ranks:
    """All ranks, as one of them sees them."""

    def __init__(self, rank: int, size: int, *, gpu: int, meeting: tuple[str, int], timeout: float | None) -> None:
        """Raises OSError if another process meets there, TimeoutError."""
        self.rank, self.size, self.gpu = rank, size, gpu
        self._star = Star(rank, size, meeting, timeout)
        self._met: list[Any] = []
        self._fabric: simulation.Fabric | None = None

    @property
    def has_met(self) -> bool:
        """True if all have met."""
        return bool(self._met)

    def meet(self) -> None:
        """Find a network and inform the others. Raises NcclError."""
        hcas = machine.hcas()
        nccl_log.write(nccl_log.opening(hcas), self.gpu)
        if not hcas and os.environ.get("NCCL_NET") == "IB":
            raise NcclError(INVALID, "Failed to initialize any NET plugin")
        ways = [way for way, has in (("dma_buf", machine.dma_buf()), ("peermem", machine.peermem())) if has]
        mine = {"node": machine.node(), "address": machine.address(), "gpu": self.gpu, "hcas": hcas, "ways": ways}
        mine |= {"congestion": machine.congestion(), "nvlink": machine.nvlink()}
        self._met = self.exchange(mine)
        self._check_channels()
        nccl_log.write(nccl_log.met(self.rank, self._met), self.gpu)

    def _check_channels(self) -> None:
        """NCCL takes memory that goes to other machines before it continues, and does not fall back (src/mnnvl.cc)."""
        several = len({rank["node"] for rank in self._met}) > 1 and simulation.one_clique(self._met)
        if several and not self._met[self.rank]["nvlink"]["channel"]:
            said = nccl_log.no_channel(len(self._met))
            nccl_log.write(iter([said]), self.gpu, "WARN")
            raise NcclError(SYSTEM, said)

    def connect(self) -> simulation.Fabric:
        """Once: connect, as soon as all of them come to it, in their first collective. Raises NcclError."""
        if self._fabric is not None:
            return self._fabric
        self.exchange(None)
        try:
            self._fabric = simulation.fabric_of(self._met)
        except simulation.UnreachableError as error:
            said = list(nccl_log.unreached(self.rank, self._met))
            nccl_log.write(iter(said), self.gpu, "WARN")
            raise NcclError(GONE, said[-1]) from error
        nccl_log.write(nccl_log.connecting(self._fabric, self.rank, self._met), self.gpu)
        return self._fabric

    def exchange(self, mine: Any) -> list[Any]:
        """The contribution of every rank, in order of rank, for every rank. Raises NcclError, TimeoutError."""
        try:
            return self._star.exchange(mine)
        except StarError as error:
            nccl_log.write(iter([_CLOSED]), self.gpu, "WARN")
            raise NcclError(GONE, _CLOSED) from error

    def close(self) -> None:
        """Close the connections to the other ranks."""
        self._star.close()
