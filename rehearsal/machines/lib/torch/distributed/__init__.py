"""torch.distributed: processes that meet at an address and port, and reduce."""

import os
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from enum import Enum
from typing import NoReturn

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
_DUMPS = (
    "Received a dump signal due to a collective timeout from this local rank and we will try our best to dump the "
    "debug info. Last enqueued NCCL work: 3, last completed NCCL work: 2.This is most likely caused by incorrect "
    "usages of collectives, e.g., wrong sizes used across ranks, the order of collectives is not same for all ranks or "
    "the scheduled collective, for some reason, didn't run. Additionally, this can be caused by GIL deadlock or other "
    "reasons such as network errors or bugs in the communications library (e.g. NCCL), etc. \nProcessGroupNCCL "
    "preparing to dump debug info. Include stack trace: 1, only active collectives: 0"
)
"""Longer than what is kept of an output."""


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
        raise DistBackendError(
            f"Timed out after {limit:g} seconds waiting for clients. 1/{size} clients joined."
            if number == 0
            else f"The client socket has timed out after {limit:g}000ms while trying to connect to ({address}, {port})."
        ) from error
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
        if not group.has_met:
            group.meet()
        fabric = group.connect()
    except NcclError as error:
        version = f"NCCL version {nccl_log.VERSION}"
        raise DistBackendError(
            f"NCCL error in: simulated, {error.problem}, {version}\nLast error:\n{error.last}"
        ) from error
    except TimeoutError:
        _stay("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE)")
    try:
        columns = zip(*group.exchange(tensor.kept), strict=True)
    except NcclError as error:
        raised = "Collective WorkNCCL(SeqNum=2, OpType=ALLREDUCE) raised the following async exception"
        _stay(f"{raised}: NCCL error: {error.problem}\nLast error:\n{error.last}")
    except TimeoutError:
        _stay("Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE)")
    tensor.kept = [_reduced(column, op) for column in columns]
    simulation.clock.seconds += fabric.seconds(len(tensor) * tensor.element_size(), group.size)


def _stay(words: str) -> NoReturn:
    """What the watchdog of PyTorch 2.11 does: say it on stderr, and not end the process for long (ranks.yaml)."""
    rank = _current().rank
    after = f"failure detected by watchdog at work sequence id: 2\n{_DUMPS}"
    print(f"[rank{rank}]:[E ProcessGroupNCCL.cpp:689] [Rank {rank}] {words}\n{after}", file=sys.stderr, flush=True)
    while True:
        time.sleep(3600)


def _reduced(column: Sequence[Number], op: ReduceOp) -> Number:
    return sum(column) if op is ReduceOp.SUM else max(column)
