"""NCCL, or RCCL on AMD GPUs, as the ranks of an all-reduce use it: through its C interface.

RCCL has NCCL's functions, by the same names (rccl.h). No framework is in between, so the time is that of the library
and the network.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from array import array
from collections.abc import Callable, Sequence

from .gpu import PERIOD, Gpu, Graph, Library, collectives, expected_sum, own_value

_FLOAT, _DOUBLE = 7, 8
_SUM, _MAX = 0, 2
"""ncclDataType_t and ncclRedOp_t (nccl.h)."""
_POLL_SECONDS = 0.0002
_FAREWELL_SECONDS = 3.0
"""Seconds from a rank's last word until it goes. Other ranks that wait as long say their own word meanwhile, and do not
speak of this one.
"""
_LEAST_GRAPH = 2
_NUMBERS = 8
"""The most numbers that the ranks compare at once."""


class UniqueId(ctypes.Structure):
    """ncclUniqueId: the meeting point of the ranks, in 128 bytes that NCCL defines."""

    _fields_ = (("internal", ctypes.c_ubyte * 128),)


def unique_id() -> str:
    """A meeting point for the ranks of one run, in hexadecimal; this process keeps it until all ranks have come.

    Raises OSError without a library, RuntimeError in the library's words.
    """
    made = UniqueId()
    library = collectives()[1]
    _check(library, library.ncclGetUniqueId(ctypes.byref(made)))
    return bytes(made.internal).hex()


class NcclRanks:
    """All ranks of a run as one of them sees them. Each has one GPU, and all do the same in the same order."""

    def __init__(self, *, rank: int, ranks: int, gpu: int, meeting: str, limit_seconds: float) -> None:
        """``meeting`` is a unique_id of node rank 0; nothing takes longer than the limit, or this process ends."""
        self._rank, self._ranks, self._limit = rank, ranks, limit_seconds
        maker, self._library = collectives()
        self._gpu = Gpu(maker, gpu)
        self._comm = ctypes.c_void_p()
        self._declare()
        if not meeting:
            unique_id()  # says why node rank 0 could not make one
            raise RuntimeError("node rank 0 has no unique id for the ranks to meet by")
        identity = UniqueId.from_buffer_copy(bytes.fromhex(meeting))
        with _Limit(limit_seconds, "ncclCommInitRank"):
            self._call(self._library.ncclCommInitRank(ctypes.byref(self._comm), ranks, identity, rank))
        self._begin, self._end = self._gpu.event(), self._gpu.event()
        self._numbers = self._gpu.allocate(_NUMBERS * 8)
        self._message, self._count = 0, 0
        self._between: list[int] = []
        self._graphs: dict[int, Graph] = {}
        self.one_by_one: str | None = None
        """The reason why operations are launched one by one, if they cannot be launched as a graph."""

    def allocate(self, count: int) -> None:
        """Make room for a message of this many float32, in place of the last message."""
        self._forget_graphs()
        if self._message:
            self._gpu.free(self._message)
        self._message, self._count = self._gpu.allocate(count * 4), count

    def fill(self) -> None:
        """Put this rank's numbers into the message."""
        self._gpu.fill(self._message, self._count * 4, repeated(own_value, self._rank))

    def wrong(self) -> int:
        """The number of elements of the message that are not the sum."""
        return self._gpu.differing(self._message, self._count * 4, repeated(expected_sum, self._ranks))

    def timed(self, iterations: int, *, apart: bool = False) -> list[float]:
        """Seconds of some all-reduces of the message in a row, on this rank, if all ranks have begun together.

        apart: of each of them, which takes some microseconds more for each; else of all together, which are launched as
        one.
        """
        graph = None if apart else self._graph(iterations)
        # On the GPU: the ranks' processes come out of a wait at different moments.
        self._queue(self._numbers, 1, _DOUBLE, _MAX)
        between = self._events(iterations - 1) if apart else []
        self._gpu.record(self._begin)
        for event in between:
            self._queue_message()
            self._gpu.record(event)
        if graph is not None:
            self._gpu.launch(graph)
        else:
            self._queue_message(times=1 if apart else iterations)
        self._await(f"{iterations} all-reduces of {self._count * 4} bytes")
        moments = [self._begin, *between, self._end]
        return [self._gpu.seconds(begin, end) for begin, end in zip(moments, moments[1:])]

    def _graph(self, times: int) -> Graph | None:
        """So many all-reduces of the message as a graph, the same each time; None if they are launched one by one.

        One rank that cannot launches one by one, so all do: NCCL's ranks have to do the same.
        """
        if times < _LEAST_GRAPH or self.one_by_one is not None:
            return None
        if times not in self._graphs:
            refused = ""
            try:
                self._graphs[times] = self._gpu.captured(lambda: self._queue_message(times=times))
            except RuntimeError as error:
                refused = str(error)
            if self.largest(float(bool(refused)))[0]:
                self._forget_graphs()
                self.one_by_one = refused or "another rank cannot launch a graph"
                return None
        return self._graphs[times]

    def _forget_graphs(self) -> None:
        for graph in self._graphs.values():
            self._gpu.forget(graph)
        self._graphs.clear()

    def _queue_message(self, *, times: int = 1) -> None:
        self._queue(self._message, self._count, _FLOAT, _SUM, times=times)

    def _events(self, count: int) -> list[int]:
        """So many events, the same each time."""
        self._between += [self._gpu.event() for _ in range(count - len(self._between))]
        return self._between[:count]

    def largest(self, *numbers: float) -> Sequence[float]:
        """The largest value of each number among all ranks."""
        self._gpu.write(self._numbers, array("d", numbers).tobytes())
        self._queue(self._numbers, len(numbers), _DOUBLE, _MAX)
        self._await("a comparison of numbers")
        return array("d", self._gpu.read(self._numbers, len(numbers) * 8))

    def close(self) -> None:
        """Leave the other ranks. NCCL does not let a rank go that has graphs."""
        self._forget_graphs()
        with _Limit(self._limit, "ncclCommDestroy"):  # waits for the other ranks of the node
            self._call(self._library.ncclCommDestroy(self._comm))

    def _queue(self, address: int, count: int, kind: int, operation: int, *, times: int = 1) -> None:
        """Have numbers reduced in place, after all that was queued before."""
        all_reduce = self._library.ncclAllReduce
        place, stream = ctypes.c_void_p(address), ctypes.c_void_p(self._gpu.stream)
        with _Limit(self._limit, "ncclAllReduce"):  # the first connects, and waits for the others (NCCL 2.22)
            for _ in range(times):
                code = all_reduce(place, place, count, kind, operation, self._comm, stream)
                if code:
                    self._call(code)

    def _await(self, what: str) -> None:
        """Wait until everything that was queued is done. Raises RuntimeError when another rank has gone."""
        self._gpu.record(self._end)
        state, began = ctypes.c_int(), time.monotonic()
        with _Limit(self._limit, what):
            while not self._gpu.reached(self._end):
                self._call(self._library.ncclCommGetAsyncError(self._comm, ctypes.byref(state)))
                if state.value and time.monotonic() - began > self._limit / 2:
                    # Another rank has waited in vain, and went a moment earlier.
                    print(_Limit.word(what, self._limit / 2), file=sys.stderr)
                self._call(state.value)
                time.sleep(_POLL_SECONDS)

    def _declare(self) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int
        library = self._library
        library.ncclCommInitRank.argtypes = [ctypes.POINTER(pointer), number, UniqueId, number]
        library.ncclAllReduce.argtypes = [pointer, pointer, ctypes.c_size_t, number, number, pointer, pointer]
        library.ncclCommGetAsyncError.argtypes = [pointer, ctypes.POINTER(number)]
        library.ncclCommDestroy.argtypes = [pointer]

    def _call(self, code: int) -> None:
        _check(self._library, code, self._comm)


def repeated(value: Callable[[int, int], int], number: int) -> bytes:
    """PERIOD floats of four bytes: what a function gives for each position and this number."""
    return array("f", [value(position, number) for position in range(PERIOD)]).tobytes()


def _check(library: Library, code: int, comm: ctypes.c_void_p | None = None) -> None:
    if code:
        for name in ("ncclGetErrorString", "ncclGetLastError"):
            getattr(library, name).restype = ctypes.c_char_p
        said = (library.ncclGetErrorString(code), library.ncclGetLastError(comm))
        error, last = (text.decode(errors="replace") for text in said)
        raise RuntimeError(f"NCCL error: {error}\nLast error:\n{last}")


class _Limit:
    """Ends this process with a word when the block takes too long, because the library itself waits for ever."""

    def __init__(self, seconds: float, what: str) -> None:
        self._timer = threading.Timer(seconds, self._end, (seconds, what))
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @staticmethod
    def word(what: str, seconds: float) -> str:
        """The words for it."""
        return f"collective operation timeout: {what} did not end within {seconds:g} s"

    def _end(self, seconds: float, what: str) -> None:
        print(self.word(what, seconds), file=sys.stderr, flush=True)
        time.sleep(_FAREWELL_SECONDS)
        os._exit(1)
