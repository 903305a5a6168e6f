"""NCCL (libnccl) as far as measuring programs use it, with C's names and signatures.

Operations that are queued on the stream are done when a caller waits for the stream, all of them in one exchange
between the ranks.
"""

import os
from array import array
from typing import Any

from rehearsal.machines.gpu_libraries import simulation
from rehearsal.machines.gpu_libraries.cuda import Memory, memory_at, set_reference
from rehearsal.machines.gpu_libraries.ranks import GONE, INVALID, SYSTEM, NcclError, Ranks

_SUCCESS, _SYSTEM_ERROR, _INVALID_USAGE, _REMOTE_ERROR = 0, 2, 5, 6
"""ncclResult_t."""
_WORDS = {
    1: "unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
    _SYSTEM_ERROR: f"{SYSTEM} (run with NCCL_DEBUG=INFO for details)",
    3: "internal error - please report this issue to the NCCL developers",
    4: "invalid argument (run with NCCL_DEBUG=WARN for details)",
    _INVALID_USAGE: f"{INVALID} (run with NCCL_DEBUG=WARN for details)",
    _REMOTE_ERROR: GONE,
    7: "NCCL operation in progress",
}
_KINDS = {7: "f", 8: "d"}
_MAX = 2


class _Reduction:
    """An all-reduce that was queued, several times."""

    def __init__(self, memory: Memory, kind: str, operation: int) -> None:
        self.memory, self.kind, self.operation = memory, kind, operation
        self.times = 1

    def again(self, other: "_Reduction") -> bool:
        """True if another one is the same."""
        return (self.memory, self.kind, self.operation) == (other.memory, other.kind, other.operation)


class _Communicator:
    """The one communicator of a process."""

    def __init__(self) -> None:
        self.ranks: Ranks | None = None
        self.queued: list[_Reduction] = []
        self.last = ""
        self.made = 0
        self.state = _SUCCESS

    def failed(self, error: NcclError) -> int:
        self.last = error.last
        self.state = {INVALID: _INVALID_USAGE, SYSTEM: _SYSTEM_ERROR}.get(error.problem, _REMOTE_ERROR)
        return self.state

    def finish(self) -> bool:
        """Do what is queued with the others; whether it is done."""
        assert self.ranks is not None
        queued, self.queued = self.queued, []
        try:
            everybody = self.ranks.exchange([reduction.memory.kept.hex() for reduction in queued])
        except NcclError as error:
            self.failed(error)
            return False
        for reduction, held in zip(queued, zip(*everybody, strict=True), strict=True):
            columns = zip(*(array(reduction.kind, bytes.fromhex(text)) for text in held), strict=True)
            if reduction.operation == _MAX:
                values = [max(column) for column in columns]
            else:  # from the second time on all ranks hold the same
                again = float(self.ranks.size) ** (reduction.times - 1)
                values = [sum(column) * again for column in columns]
            reduction.memory.kept[:] = array(reduction.kind, values).tobytes()
        return True


_communicator = _Communicator()


def ncclGetErrorString(code: int) -> bytes:  # noqa: N802 NCCL's names, all of them
    """The name of a result."""
    return _WORDS[code].encode()


def ncclGetLastError(comm: Any) -> bytes:  # noqa: N802
    """NCCL's last warning."""
    return _communicator.last.encode()


def ncclGetUniqueId(identity: Any) -> int:  # noqa: N802
    """The meeting point of the ranks: this pod's address, and a number that no other meeting has."""
    text = f"{os.environ['REHEARSAL_POD_IP']} {int.from_bytes(os.urandom(6), 'big')}"
    identity._obj.internal[:] = text.encode().ljust(128, b"\0")
    return _SUCCESS


def ncclCommInitRank(comm: Any, count: int, identity: Any, rank: int) -> int:  # noqa: N802
    """Meet the others, however long they take to come. Connecting is left to the first collective."""
    address, number = bytes(identity.internal).rstrip(b"\0").decode().split()
    gpu = int(os.environ.get("LOCAL_RANK", "0"))
    _communicator.ranks = Ranks(rank, count, gpu=gpu, meeting=(address, int(number)), timeout=None)
    try:
        _communicator.ranks.meet()
    except NcclError as error:
        return _communicator.failed(error)
    return set_reference(comm, 1)


def ncclAllReduce(  # noqa: N802
    source: Any, target: Any, count: int, kind: int, operation: int, comm: Any, stream: Any
) -> int:
    """Queue a reduction in place; the first waits for the others, since it connects (NCCL 2.22, src/init.cc)."""
    if simulation.capture.queued is not None:
        simulation.capture.queued.append(
            lambda: ncclAllReduce(source, target, count, kind, operation, comm, stream)
        )  # fmt: skip
        return _SUCCESS
    assert source.value == target.value
    ranks = _communicator.ranks
    assert ranks is not None
    try:
        fabric = ranks.connect()
    except NcclError as error:
        return _communicator.failed(error)
    memory, offset = memory_at(target.value)
    assert not offset
    reduction = _Reduction(memory, _KINDS[kind], operation)
    queued = _communicator.queued
    if queued and queued[-1].again(reduction):
        queued[-1].times += 1
    else:
        if any(other.memory is memory for other in queued):
            simulation.stream.finish()
        if not _communicator.queued:
            simulation.stream.queue(_communicator.finish)
        _communicator.queued.append(reduction)
    _communicator.made += 1
    size = count * array(reduction.kind).itemsize
    simulation.clock.seconds += fabric.seconds(size, ranks.size, _communicator.made)
    return _SUCCESS


def ncclCommGetAsyncError(comm: Any, state: Any) -> int:  # noqa: N802
    """The errors on the way."""
    return set_reference(state, _communicator.state)


def ncclCommDestroy(comm: Any) -> int:  # noqa: N802
    """Leave the communicator."""
    assert _communicator.ranks is not None
    _communicator.ranks.close()
    return _SUCCESS
