"""CUDA's runtime and driver (libcudart, libcuda) as far as measuring programs use them, with C's names and signatures.

An allocation holds its first bytes only, because a message of 16 GiB fits no test machine. A wrong sum is as wrong in
its first numbers as in the others. A program for the GPU is not run: this module knows it by its name, and does what a
program of that name does.
"""

import ctypes
import itertools
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rehearsal.machines.gpu_libraries import load, machine, simulation
from rehearsal.machines.gpu_libraries.cuda_words import WORDS

KEPT = 256
"""The number of leading bytes of an allocation that are held; the test pattern's period if the rest is read, too."""
_WORD = 4

_SUCCESS, _INVALID_VALUE, _NO_DEVICE, _INVALID_DEVICE, _NOT_FOUND, _NOT_READY, _NOT_SUPPORTED = (
    0,
    1,
    100,
    101,
    500,
    600,
    801,
)
"""cudaError_t."""


class Memory(NamedTuple):
    """An allocation."""

    address: int
    kept: bytearray


_CAPABILITY, _HOST_PAGE_TABLES = 75, 100
"""cudaDevAttrComputeCapabilityMajor, cudaDevAttrPageableMemoryAccessUsesHostPageTables."""
_BLACKWELL = 10
"""The capability of the GPUs that have a Grace next to them."""
_OF_WORK = range(200, 800)
"""Errors that work on a GPU ends with; they stay (an H100, tests/field_recordings/ranks.yaml)."""
_of_work = _SUCCESS
_hanging: list[int] = []
_allocations: dict[int, Memory] = {}
_addresses = itertools.count(1 << 40, 1 << 40)
_events: dict[int, float] = {}
_numbers = itertools.count(1)
_graphs: dict[int, list[Callable[[], int]]] = {}


def memory_at(address: int) -> tuple[Memory, int]:
    """The allocation in which an address lies, and how far from its start. Raises KeyError."""
    start = address >> 40 << 40
    return _allocations[start], address - start


def set_reference(reference: Any, value: Any) -> int:
    """Give the variable behind a ctypes.byref a value; returns success."""
    reference._obj.value = value
    return _SUCCESS


def cudaGetErrorString(code: int) -> bytes:  # noqa: N802 CUDA's names, all of them
    """The name of an error."""
    return WORDS.get(code, "unrecognized error code").encode()


def cudaSetDevice(index: int) -> int:  # noqa: N802
    """Choose a GPU."""
    held = len(machine.gpus())
    if fault := machine.gpu_fault("gpu-error", index):
        global _of_work  # noqa: PLW0603 the state of a library
        if fault["error"] not in _OF_WORK:
            return int(fault["error"])
        _of_work = fault["error"]
    if machine.gpu_fault("gpu-hang", index):
        _hanging.append(index)
    if index < held:
        simulation.work.number = index
        simulation.work.is_open = True
    return _SUCCESS if index < held else _INVALID_DEVICE if held else _NO_DEVICE


def cudaMalloc(address: Any, size: int) -> int:  # noqa: N802
    """Room for some bytes, with something else in it."""
    return allocate(address, size, KEPT)


def allocate(address: Any, size: int, kept: int) -> int:
    """Room for some bytes, of which some are held."""
    while _hanging:
        time.sleep(3600)
    start = next(_addresses)
    _allocations[start] = Memory(start, bytearray(b"\xff" * min(size, kept)))
    return set_reference(address, start)


def cudaFree(address: int) -> int:  # noqa: N802
    """Give memory back."""
    simulation.stream.finish()
    return _SUCCESS if _allocations.pop(address, None) else _INVALID_VALUE


def cudaMemcpy(target: Any, source: Any, size: int, kind: int) -> int:  # noqa: N802
    """Copy to the GPU (kind 1), from it (2) or within it (3)."""
    simulation.stream.finish()
    if kind == 1:
        _write(target, source[:size])
    elif kind == 2:
        ctypes.memmove(target, _read(source, size), size)
    else:
        memory, offset = memory_at(source)
        _write(target, bytes(memory.kept[offset : offset + size]))
    return _SUCCESS


def _write(address: int, data: bytes) -> None:
    memory, offset = memory_at(address)
    held = data[: max(0, len(memory.kept) - offset)]
    memory.kept[offset : offset + len(held)] = held


def _read(address: int, size: int) -> bytes:
    memory, offset = memory_at(address)
    if offset + size > len(memory.kept):
        raise NotImplementedError(f"a simulated GPU holds {KEPT} bytes of an allocation, not {offset + size}")
    return bytes(memory.kept[offset : offset + size])


def cudaStreamCreate(stream: Any) -> int:  # noqa: N802
    """There is one stream."""
    return set_reference(stream, 1)


def cudaEventCreate(event: Any) -> int:  # noqa: N802
    """A moment on the stream."""
    return set_reference(event, next(_numbers))


def cudaEventRecord(event: int, stream: int) -> int:  # noqa: N802
    """When everything is done that was queued before."""
    _events[event] = simulation.clock.seconds
    return _SUCCESS


def cudaEventQuery(event: int) -> int:  # noqa: N802
    """Success if it is done."""
    return _of_work or (_SUCCESS if simulation.stream.finish() else _NOT_READY)


def cudaEventElapsedTime(milliseconds: Any, begin: int, end: int) -> int:  # noqa: N802
    """The time between two events."""
    return set_reference(milliseconds, (_events[end] - _events[begin]) * 1e3)


def cudaStreamBeginCapture(_stream: int, _mode: int) -> int:  # noqa: N802
    """From now on what is queued becomes a graph."""
    if machine.gpu_fault("no-graphs", simulation.work.number):
        return _NOT_SUPPORTED
    simulation.capture.queued = []
    return _SUCCESS


def cudaStreamEndCapture(_stream: int, graph: Any) -> int:  # noqa: N802
    """The graph."""
    number = next(_numbers)
    _graphs[number], simulation.capture.queued = simulation.capture.queued or [], None
    return set_reference(graph, number)


def cudaGraphInstantiateWithFlags(launched: Any, graph: Any, _flags: int) -> int:  # noqa: N802
    """The graph that can be launched."""
    return set_reference(launched, graph.value)


def cudaGraphLaunch(launched: int, _stream: int) -> int:  # noqa: N802
    """Queue all of it."""
    for work in _graphs[launched]:
        work()
    return _SUCCESS


def cudaGraphExecDestroy(_launched: int) -> int:  # noqa: N802
    """Give it back."""
    return _SUCCESS


def cudaGraphDestroy(graph: int) -> int:  # noqa: N802
    """Give it back."""
    return _SUCCESS if _graphs.pop(graph, None) is not None else _INVALID_VALUE


def cudaDeviceGetPCIBusId(text: Any, _size: int, index: int) -> int:  # noqa: N802
    """The PCI address of a GPU, in capital letters."""
    held = machine.gpus()
    if (fault := machine.gpu_fault("gpu-error", index)) and fault["error"] not in _OF_WORK:
        return int(fault["error"])
    if index >= len(held):
        return _INVALID_DEVICE if held else _NO_DEVICE
    text.value = held[index].address.upper().encode()
    return _SUCCESS


def cudaDeviceGetAttribute(value: Any, attribute: int, index: int) -> int:  # noqa: N802
    """The first number of its compute capability, and whether the kernel uses its memory too."""
    capability = machine.gpus()[index].model.capability
    return set_reference(value, {_CAPABILITY: capability, _HOST_PAGE_TABLES: int(capability == _BLACKWELL)}[attribute])


def cudaMallocHost(address: Any, size: Any) -> int:  # noqa: N802
    """Memory of the host that stays at its address."""
    return cudaMalloc(address, size.value)


def cudaFreeHost(address: int) -> int:  # noqa: N802
    """Give it back."""
    return cudaFree(address)


def cudaMemcpyAsync(_target: Any, _source: Any, size: int, kind: int, _stream: Any) -> int:  # noqa: N802
    """Queue a copy to the GPU (kind 1) or from it (2)."""
    assert kind in (1, 2)
    simulation.clock.seconds += size / load.working().host_bytes_a_second()
    return _SUCCESS


def cudaMemcpyPeerAsync(  # noqa: N802
    _target: Any, _peer: int, _source: Any, _own: int, size: int, _stream: Any
) -> int:
    """Queue a copy to another GPU."""
    simulation.clock.seconds += size / load.working().peer_bytes_a_second()
    return _SUCCESS


def cudaDeviceCanAccessPeer(able: Any, own: int, peer: int) -> int:  # noqa: N802
    """True if two GPUs of this container reach each other: those with NVLinks do."""
    held = machine.gpus()
    if max(own, peer) >= len(held):
        return _INVALID_DEVICE
    return set_reference(able, int(held[own].model.nvlinks > 0))


def cudaDeviceEnablePeerAccess(_peer: int, _flags: int) -> int:  # noqa: N802
    """Have the GPU that is set reach another one."""
    return _SUCCESS


def cuModuleLoadData(module: Any, image: bytes) -> int:  # noqa: N802
    """Take a program as PTX."""
    return set_reference(module, 1) if b".visible .entry count_differing(" in image else _NOT_FOUND


def cuModuleGetFunction(function: Any, module: Any, name: bytes) -> int:  # noqa: N802
    """The function of a name."""
    return set_reference(function, 1) if name == b"count_differing" else _NOT_FOUND


def cuLaunchKernel(function: int, *arguments: Any) -> int:  # noqa: N802
    """Run it: (data, count, pattern, period, differing) are its parameters."""
    simulation.stream.finish()
    parameters = arguments[-2]
    data, count, pattern, period, differing = (ctypes.c_uint64.from_address(place).value for place in parameters)
    held = min(count * _WORD, KEPT)
    mine, theirs = _read(data, held), _read(pattern, min(period * _WORD, KEPT))
    words = range(0, held, _WORD)
    wrong = sum(1 for place in words if mine[place : place + _WORD] != theirs[place : place + _WORD])
    _write(differing, (int.from_bytes(_read(differing, 8), "little") + wrong).to_bytes(8, "little"))
    return _SUCCESS
