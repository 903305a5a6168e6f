"""torch.distributed: processes that meet at an address and port, and reduce."""

import os
from collections.abc import Sequence
from datetime import timedelta
from enum import Enum

from rehearsal.machines.gpu_libraries import nccl_log, simulation
from rehearsal.machines.gpu_libraries.ranks import NcclError, Ranks

from ..tensors import Number, Tensor


class DistBackendError(RuntimeError):
    """What NCCL reports."""


class ReduceOp(Enum):
    """How numbers are put together."""

    SUM = "sum"
    MAX = "max"


_group: list[Ranks] = []


def _current() -> Ranks:
    if not _group:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return _group[0]


def init_process_group(
    backend: str = "nccl",
    init_method: str = "env://",
    timeout: timedelta = timedelta(minutes=10),
    rank: int = -1,
    world_size: int = -1,
) -> None:
    """Meet the others: at tcp://ADDRESS:PORT, or as RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT say."""
    given = os.environ
    scheme, _, place = init_method.partition("://")
    address, _, port = (place if scheme == "tcp" else f"{given['MASTER_ADDR']}:{given['MASTER_PORT']}").rpartition(":")
    number, size = (rank, world_size) if scheme == "tcp" else (int(given["RANK"]), int(given["WORLD_SIZE"]))
    gpu, limit = int(given.get("LOCAL_RANK", "0")), timeout.total_seconds()
    try:
        _group.append(Ranks(number, size, gpu=gpu, meeting=(address, int(port)), timeout=limit))
    except TimeoutError as error:
        raise DistBackendError("The client socket has timed out while waiting for the other ranks") from error
    except OSError as error:
        raise DistBackendError(f"The server socket has failed to listen on any local network: {error}") from error


def destroy_process_group() -> None:
    """Part."""
    _group.pop().close()


def get_rank() -> int:
    """Number of the calling process."""
    return _current().rank


def get_world_size() -> int:
    """How many there are."""
    return _current().size


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM) -> None:
    """Put together everybody's tensor, in place, for everybody."""
    group = _current()
    try:
        fabric = group.connect()
        columns = zip(*group.exchange(tensor.kept), strict=True)
    except NcclError as error:
        version = f"NCCL version {nccl_log.VERSION}"
        raise DistBackendError(
            f"NCCL error in: simulated, {error.problem}, {version}\nLast error:\n{error.last}"
        ) from error
    except TimeoutError as error:
        raise DistBackendError("Watchdog caught collective operation timeout") from error
    tensor.kept = [_reduced(column, op) for column in columns]
    simulation.clock.seconds += fabric.seconds(len(tensor) * tensor.element_size(), group.size)


def _reduced(column: Sequence[Number], op: ReduceOp) -> Number:
    return sum(column) if op is ReduceOp.SUM else max(column)
