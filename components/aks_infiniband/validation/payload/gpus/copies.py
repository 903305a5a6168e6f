"""Copies between a GPU and its host, and between two GPUs of a node, each timed by itself."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from ..collective.gpu import Gpu

BYTES = 256 << 20
_REPEATS, _WARMUP = 8, 2
_TO_GPU, _FROM_GPU = 1, 2
"""cudaMemcpyKind."""
_ALREADY = 704
"""cudaErrorPeerAccessAlreadyEnabled."""
_POLL_SECONDS = 0.001


def wait(gpu: Gpu, event: int, limit_seconds: float) -> None:
    """Wait until a GPU's stream has come to an event. Raises RuntimeError, TimeoutError."""
    give_up = time.monotonic() + limit_seconds
    while not gpu.reached(event):
        if time.monotonic() > give_up:
            raise TimeoutError(f"the GPU did not come to an end within {limit_seconds:g} s")
        time.sleep(_POLL_SECONDS)


class Copies:
    """Copies of a GPU, whose bandwidths are in GB/s (10**9 bytes)."""

    def __init__(self, gpu: Gpu, number: int, *, limit_seconds: float) -> None:
        """number: of the GPU. Raises RuntimeError."""
        self._gpu, self._number, self._limit = gpu, number, limit_seconds
        gpu.function("MemcpyAsync").argtypes = [*[ctypes.c_void_p] * 2, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p]
        peers = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p]
        gpu.function("MemcpyPeerAsync").argtypes = peers
        gpu.function("FreeHost").argtypes = [ctypes.c_void_p]
        self._own = gpu.allocate(BYTES)

    def with_host(self, during: Callable[[], None]) -> tuple[list[float], list[float]]:
        """To the host's memory, which is locked for it, and from there. during: called while data moves."""
        host = self._gpu.made("MallocHost", ctypes.c_size_t(BYTES))
        stream = self._gpu.stream
        to_host = self._timed(lambda: self._gpu.call("MemcpyAsync", host, self._own, BYTES, _FROM_GPU, stream), during)
        from_host = self._timed(lambda: self._gpu.call("MemcpyAsync", self._own, host, BYTES, _TO_GPU, stream), during)
        self._gpu.call("FreeHost", host)
        return to_host, from_host

    def to_peer(self, peer: int) -> list[float] | None:
        """Rate to another GPU of the node; None if the two do not reach each other's memory."""
        able = ctypes.c_int()
        self._gpu.call("DeviceCanAccessPeer", ctypes.byref(able), self._number, peer)
        if not able.value:
            return None
        self._gpu.call("SetDevice", peer)
        theirs = self._gpu.allocate(BYTES)
        self._gpu.call("SetDevice", self._number)
        if self._gpu.function("DeviceEnablePeerAccess")(peer, 0) not in (0, _ALREADY):
            return None
        stream, own = self._gpu.stream, self._number
        rates = self._timed(lambda: self._gpu.call("MemcpyPeerAsync", theirs, peer, self._own, own, BYTES, stream))
        self._gpu.free(theirs)
        return rates

    def _timed(self, copy: Callable[[], None], during: Callable[[], None] = lambda: None) -> list[float]:
        events = [self._gpu.event() for _ in range(_REPEATS + 1)]
        for _ in range(_WARMUP):
            copy()
        self._gpu.record(events[0])
        for event in events[1:]:
            copy()
            self._gpu.record(event)
        during()
        wait(self._gpu, events[-1], self._limit)
        seconds = [self._gpu.seconds(begin, end) for begin, end in zip(events, events[1:])]
        return [BYTES / second / 1e9 for second in seconds]
