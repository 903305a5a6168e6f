"""One GPU through its vendor's runtime library, by Python's ctypes: memory, copies, events, and what differs in memory.

CUDA and HIP have the same functions, except for their first letters. Errors are RuntimeError, in the library's words.
The numbers that the ranks of an all-reduce add up are here too: their sum is known at every position, and is exact.
"""

from __future__ import annotations

import contextlib
import ctypes
import operator
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

Library = Any
"""A shared library, as ctypes opens it."""


class Vendor(NamedTuple):
    """The names of a vendor's libraries, newest first, and how the runtime's functions begin.

    The name of the runtime has CUDA's or ROCm's major version (users' images and error messages, read 2026-11-22). The
    name of the collectives' library keeps its number (assumed).
    """

    name: str
    prefix: str
    runtime: tuple[str, ...]
    collectives: str
    folder: str | None = None
    """Their folder, if the loader does not know it."""

    def places(self, *names: str) -> list[str]:
        """The names as the loader finds them, and then in their folder."""
        return [*names, *(f"{self.folder}/{name}" for name in names if self.folder)]


VENDORS = (
    Vendor("CUDA", "cuda", ("libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"), "libnccl.so.2"),
    # The AKS InfiniBand guide's job gives LD_LIBRARY_PATH=/opt/rocm/lib for its image (rccl-mpi-job.yaml).
    Vendor("HIP", "hip", ("libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"), "librccl.so.1", "/opt/rocm/lib"),
)

_NOT_READY = 600
"""cudaErrorNotReady, and hipErrorNotReady."""
_TO_GPU, _FROM_GPU, _WITHIN_GPU = 1, 2, 3
"""cudaMemcpyKind, and hipMemcpyKind."""
_RELAXED = 2
"""cudaStreamCaptureModeRelaxed, and hipStreamCaptureModeRelaxed: NCCL does other things while it queues."""
_OF_GRAPHS = ("StreamBeginCapture", "StreamEndCapture", "GraphInstantiateWithFlags", "GraphLaunch", "GraphExecDestroy")
_CHUNK = 1 << 22
"""Bytes read back at once."""

_COUNT_DIFFERING = Path(__file__).with_name("count_differing.ptx")
_BLOCKS, _THREADS = 1024, 256


def opened(names: Iterable[str]) -> Library:
    """The first library that can be loaded. If there is none, it raises OSError with the loader's words about the
    first.
    """
    problems: list[OSError] = []
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problems.append(error)
    raise problems[0]


def collectives() -> tuple[Vendor, Library]:
    """The vendor whose collectives the image has, and their library. Raises OSError if it has none."""
    for maker in VENDORS:
        with contextlib.suppress(OSError):
            return maker, opened(maker.places(maker.collectives))
    raise OSError(f"the image has no {' and no '.join(maker.collectives for maker in VENDORS)}")


class Graph(NamedTuple):
    """Work that was captured, and what launches all of it at once."""

    captured: int
    launched: int


class Gpu:
    """The GPU with this number. The GPU runs in order the operations that are queued on its stream."""

    def __init__(self, maker: Vendor, number: int) -> None:
        """Raises OSError if the image lacks the runtime library."""
        self._maker, self._library = maker, opened(maker.places(*maker.runtime))
        self.function("GetErrorString").restype = ctypes.c_char_p
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        self.function("Malloc").argtypes = [ctypes.POINTER(pointer), size]
        self.function("Memcpy").argtypes = [pointer, pointer, size, ctypes.c_int]
        self.function("EventRecord").argtypes = [pointer, pointer]
        self.function("EventElapsedTime").argtypes = [ctypes.POINTER(ctypes.c_float), pointer, pointer]
        for name in ("Free", "EventQuery"):
            self.function(name).argtypes = [pointer]
        self._declare_graphs()
        self.call("SetDevice", number)
        self.stream = self.made("StreamCreate")
        self._program = _program() if maker.prefix == "cuda" else None

    def allocate(self, size: int) -> int:
        """Room for some bytes; its address."""
        return self.made("Malloc", size)

    def free(self, address: int) -> None:
        """Give memory back."""
        self.call("Free", address)

    def write(self, address: int, data: bytes) -> None:
        """Put bytes into its memory."""
        self.call("Memcpy", address, data, len(data), _TO_GPU)

    def read(self, address: int, size: int) -> bytes:
        """Bytes from its memory."""
        buffer = ctypes.create_string_buffer(size)
        self.call("Memcpy", buffer, address, size, _FROM_GPU)
        return buffer.raw

    def fill(self, address: int, size: int, pattern: bytes) -> None:
        """Fill memory with a pattern: write it once from here, then let the GPU double what is there by copying."""
        held = min(size, len(pattern))
        self.write(address, pattern[:held])
        while held < size:
            part = min(held, size - held)
            self.call("Memcpy", address + held, address, part, _WITHIN_GPU)
            held += part

    def differing(self, address: int, size: int, pattern: bytes) -> int:
        """The number of words of 4 bytes that differ from the repeated pattern.

        The GPU counts. The memory of a GPU that cannot count is read back whole: AMD's, and NVIDIA's if the driver
        translates no program.
        """
        if self._program is None:
            return self.differing_here(address, size, pattern)
        theirs, counted = self.allocate(len(pattern)), self.allocate(8)
        self.write(theirs, pattern)
        self.write(counted, bytes(8))
        values = [ctypes.c_uint64(value) for value in (address, size // 4, theirs, len(pattern) // 4, counted)]
        parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        launch, function = self._program
        code = launch(function, _BLOCKS, 1, 1, _THREADS, 1, 1, 0, None, parameters, None)
        if code:
            raise RuntimeError(f"CUDA error: cuLaunchKernel returned {code}")
        count = int.from_bytes(self.read(counted, 8), "little")
        self.free(theirs)
        self.free(counted)
        return count

    def event(self) -> int:
        """An event, to be recorded."""
        return self.made("EventCreate")

    def record(self, event: int) -> None:
        """Have the GPU note the time when its stream comes to this point."""
        self.call("EventRecord", event, self.stream)

    def reached(self, event: int) -> bool:
        """True if the stream has come to an event."""
        code: int = self.function("EventQuery")(event)
        if code != _NOT_READY:
            self._check(code)
        return code != _NOT_READY

    def seconds(self, begin: int, end: int) -> float:
        """The time between two events that were reached."""
        milliseconds = ctypes.c_float()
        self.call("EventElapsedTime", ctypes.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3

    def captured(self, queue: Callable[[], None]) -> Graph:
        """The operations that a function queues on the stream, as a graph: it can be launched again and again, and a
        launch takes as long as that of one operation. Raises RuntimeError if the library or the driver refuses.
        """
        missing = [name for name in _OF_GRAPHS if not hasattr(self._library, self._maker.prefix + name)]
        if missing:
            raise RuntimeError(f"{self._maker.name} has no {self._maker.prefix}{missing[0]}")
        self.call("StreamBeginCapture", self.stream, _RELAXED)
        graph = ctypes.c_void_p()
        try:
            queue()
        finally:
            code = self.function("StreamEndCapture")(self.stream, ctypes.byref(graph))
        self._check(code)
        return Graph(graph.value or 0, self.made("GraphInstantiateWithFlags", graph, 0))

    def launch(self, graph: Graph) -> None:
        """Queue a graph's work."""
        self.call("GraphLaunch", graph.launched, self.stream)

    def forget(self, graph: Graph) -> None:
        """Give a graph back."""
        self.call("GraphExecDestroy", graph.launched)
        self.call("GraphDestroy", graph.captured)

    def _declare_graphs(self) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int
        kinds: dict[str, list[Any]] = {
            "StreamBeginCapture": [pointer, number],
            "StreamEndCapture": [pointer, ctypes.POINTER(pointer)],
            "GraphInstantiateWithFlags": [ctypes.POINTER(pointer), pointer, ctypes.c_ulonglong],
            "GraphLaunch": [pointer, pointer],
            "GraphExecDestroy": [pointer],
            "GraphDestroy": [pointer],
        }
        for name, arguments in kinds.items():
            function = getattr(self._library, self._maker.prefix + name, None)  # not of every release
            if function is not None:
                function.argtypes = arguments

    def differing_here(self, address: int, size: int, pattern: bytes) -> int:
        """Like `differing`, but this process counts."""
        expected = pattern * max(1, _CHUNK // len(pattern))
        # One buffer, and the C library compares: 8 GiB are read back, by each of eight processes.
        buffer, compare, count = ctypes.create_string_buffer(len(expected)), ctypes.CDLL(None).memcmp, 0
        for start in range(0, size, len(expected)):
            length = min(len(expected), size - start)
            self.call("Memcpy", buffer, address + start, length, _FROM_GPU)
            if compare(buffer, expected, ctypes.c_size_t(length)):
                words = memoryview(buffer.raw[:length]).cast("I"), memoryview(expected[:length]).cast("I")
                count += sum(map(operator.ne, *words))
        return count

    def function(self, name: str) -> Any:
        """A function of the runtime, by its name without the vendor's first letters."""
        return getattr(self._library, self._maker.prefix + name)

    def made(self, name: str, *arguments: Any) -> int:
        """The product of a function of the runtime: a pointer, in its first argument."""
        pointer = ctypes.c_void_p()
        self.call(name, ctypes.byref(pointer), *arguments)
        return pointer.value or 0

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the runtime. Raises RuntimeError, in the runtime's words."""
        self._check(self.function(name)(*arguments))

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeError(f"{self._maker.name} error: {self.function('GetErrorString')(code).decode()}")


def _program() -> tuple[Any, int] | None:
    """The function that starts a program on the current GPU, and the program. None if the driver does not have a
    translator.
    """
    driver = opened(["libcuda.so.1"])
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    if driver.cuModuleLoadData(ctypes.byref(module), _COUNT_DIFFERING.read_bytes() + b"\0"):
        return None
    if driver.cuModuleGetFunction(ctypes.byref(function), module, b"count_differing"):
        return None
    driver.cuLaunchKernel.argtypes = [ctypes.c_void_p, *[ctypes.c_uint] * 7, *[ctypes.c_void_p] * 3]
    return driver.cuLaunchKernel, function.value or 0


PERIOD = 1021
"""Period of the test pattern in elements: a prime, so that a block that lands in another's place is seen."""


def own_value(position: int, rank: int) -> int:
    """A rank's value at a position."""
    return position % PERIOD + rank


def expected_sum(position: int, ranks: int) -> int:
    """The sum of own_value over all ranks.

    A whole number below 2**24 for up to 4096 ranks, so float32 holds it exactly whatever the order of the additions.
    """
    return position % PERIOD * ranks + ranks * (ranks - 1) // 2
