"""The ranks of a job that reduce together: they meet, find out what connects them, and exchange what they hold."""

import os
from typing import Any

from rehearsal.machines.gpu_libraries import machine, nccl_log, simulation
from rehearsal.machines.gpu_libraries.star import Star, StarError

GONE = "remote process exited or there was a network error"
INVALID = "invalid usage"


class NcclError(Exception):
    """What NCCL reports: the problem, in the words of its result, and the last that it has to say."""

    def __init__(self, problem: str, last: str) -> None:
        super().__init__(problem)
        self.problem, self.last = problem, last


class Ranks:
    """All ranks, as one of them sees them."""

    def __init__(self, rank: int, size: int, *, gpu: int, meeting: tuple[str, int], timeout: float | None) -> None:
        """Raises OSError where somebody else meets there, TimeoutError."""
        self.rank, self.size, self.gpu = rank, size, gpu
        self._star = Star(rank, size, meeting, timeout)
        self._fabric: simulation.Fabric | None = None

    def connect(self) -> simulation.Fabric:
        """Once: find a network, tell the others, connect. Raises NcclError."""
        if self._fabric is not None:
            return self._fabric
        hcas = machine.hcas()
        nccl_log.write(nccl_log.opening(hcas), self.gpu)
        if not hcas and os.environ.get("NCCL_NET") == "IB":
            raise NcclError(INVALID, "Failed to initialize any NET plugin")
        ways = [way for way, has in (("dma_buf", machine.dma_buf()), ("peermem", machine.peermem())) if has]
        mine = {"node": machine.node(), "gpu": self.gpu, "hcas": hcas, "ways": ways}
        ranks = self.exchange(mine)
        try:
            self._fabric = simulation.fabric_of(ranks)
        except simulation.UnreachableError as error:
            nccl_log.write(iter([str(error)]), self.gpu, "WARN")
            raise NcclError(GONE, str(error)) from error
        nccl_log.write(nccl_log.connecting(self._fabric, self.rank, ranks), self.gpu)
        nccl_log.write(nccl_log.finished(self._fabric, self.rank, self.size), self.gpu)
        return self._fabric

    def exchange(self, mine: Any) -> list[Any]:
        """Everybody's contribution, in order of rank, for everybody. Raises NcclError, TimeoutError."""
        try:
            return self._star.exchange(mine)
        except StarError as error:
            raise NcclError(GONE, "Connection closed by remote peer") from error

    def close(self) -> None:
        """Part."""
        self._star.close()
