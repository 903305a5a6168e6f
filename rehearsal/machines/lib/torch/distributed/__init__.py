"""torch.distributed: processes that meet at MASTER_ADDR and MASTER_PORT, and reduce."""

import os
from collections.abc import Sequence
from datetime import timedelta
from enum import Enum
from typing import Any

from .. import machine, nccl_log, simulation
from ..tensors import Number, Tensor
from .star import Star, StarError


class DistBackendError(RuntimeError):
    """What NCCL reports."""


class ReduceOp(Enum):
    """How numbers are put together."""

    SUM = "sum"
    MAX = "max"


class _Group:
    """The one process group."""

    def __init__(self, timeout: timedelta) -> None:
        self.rank, self.size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        self.gpu = int(os.environ.get("LOCAL_RANK", "0"))
        try:
            meeting = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
            self.star = Star(self.rank, self.size, meeting, timeout.total_seconds())
        except TimeoutError as error:
            raise DistBackendError("The client socket has timed out while waiting for the other ranks") from error
        except OSError as error:
            raise DistBackendError(f"The server socket has failed to listen on any local network: {error}") from error
        self.fabric: simulation.Fabric | None = None

    def connect(self) -> simulation.Fabric:
        """What NCCL does at the first collective: find a network, tell the others, connect."""
        if self.fabric is not None:
            return self.fabric
        hcas = machine.hcas()
        nccl_log.write(nccl_log.opening(hcas), self.gpu)
        if not hcas and os.environ.get("NCCL_NET") == "IB":
            raise DistBackendError(_words("invalid usage", "Failed to initialize any NET plugin"))
        mine = {"node": machine.node(), "gpu": self.gpu, "hcas": hcas, "peermem": machine.peermem()}
        ranks = self.exchange(mine)
        try:
            self.fabric = simulation.fabric_of(ranks)
        except simulation.UnreachableError as error:
            nccl_log.write(iter([str(error)]), self.gpu, "WARN")
            raise DistBackendError(_words("remote process exited or there was a network error", str(error))) from error
        nccl_log.write(nccl_log.connecting(self.fabric, self.rank, ranks), self.gpu)
        nccl_log.write(nccl_log.finished(self.fabric, self.rank, self.size), self.gpu)
        return self.fabric

    def exchange(self, mine: Any) -> list[Any]:
        """Everybody's contribution, in order of rank, for everybody."""
        try:
            return self.star.exchange(mine)
        except StarError as error:
            said = "Connection closed by remote peer"
            raise DistBackendError(_words("remote process exited or there was a network error", said)) from error
        except TimeoutError as error:
            raise DistBackendError("Watchdog caught collective operation timeout") from error


_group: list[_Group] = []


def _words(problem: str, last: str) -> str:
    return f"NCCL error in: simulated, {problem}, NCCL version {nccl_log.VERSION}\nLast error:\n{last}"


def _current() -> _Group:
    if not _group:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _group[0]


def init_process_group(
    backend: str = "nccl", init_method: str = "env://", timeout: timedelta = timedelta(minutes=10)
) -> None:
    """Meet the others at MASTER_ADDR and MASTER_PORT."""
    _group.append(_Group(timeout))


def destroy_process_group() -> None:
    """Part."""
    _group.pop().star.close()


def get_rank() -> int:
    """Number of the calling process."""
    return _current().rank


def get_world_size() -> int:
    """How many there are."""
    return _current().size


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM) -> None:
    """Add up everybody's tensor, in place, for everybody."""
    group = _current()
    fabric = group.connect()
    columns = zip(*group.exchange(tensor.kept), strict=True)
    tensor.kept = [_reduced(column, op) for column in columns]
    simulation.clock.seconds += fabric.seconds(len(tensor) * tensor.element_size(), group.size)


def _reduced(column: Sequence[Number], op: ReduceOp) -> Number:
    return sum(column) if op is ReduceOp.SUM else max(column)


def broadcast(tensor: Tensor, src: int = 0) -> None:
    """One rank's tensor for everybody."""
    group = _current()
    group.connect()
    tensor.kept = group.exchange(tensor.kept if group.rank == src else [])[src]


def barrier(device_ids: Sequence[int] | None = None) -> None:
    """Wait for everybody."""
    group = _current()
    group.connect()
    group.exchange(None)
