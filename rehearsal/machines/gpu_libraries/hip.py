"""HIP's runtime (libamdhip64): CUDA's functions, except for their first letters, and no program for the GPU.

So the memory of a GPU is read back whole. The memory holds the first period of what was written into it, and repeats
that.
"""

import ctypes
from collections.abc import Callable
from typing import Any

from rehearsal.machines.gpu_libraries import cuda, simulation

_PERIOD = 1021 * 4
"""Bytes of the test pattern's period (components/aks_infiniband/validation/payload/collective/gpu.py)."""
_FROM_GPU = 2
_WORDS = {
    1: "invalid argument",
    2: "out of memory",
    3: "initialization error",
    100: "no ROCm-capable device is detected",
    101: "invalid device ordinal",
    700: "an illegal memory access was encountered",
    719: "unspecified launch failure",
    999: "unknown error",
}
"""By the number of hipError_t, as far as known (ROCm/clr, hipamd/src/hip_error.cpp; assumed)."""
_read: list[tuple[Any, bytes, int]] = []
"""The buffer that was read into last, what of, and how much."""


def hipGetErrorString(code: int) -> bytes:  # noqa: N802 HIP's names, all of them
    """The name of an error."""
    return _WORDS.get(code, "unrecognized error code").encode()


def hipMalloc(address: Any, size: int) -> int:  # noqa: N802
    """Room for some bytes."""
    return cuda.allocate(address, size, _PERIOD)


def hipMemcpy(target: Any, source: Any, size: int, kind: int) -> int:  # noqa: N802
    """Copy. From the GPU comes what its memory repeats."""
    simulation.stream.finish()
    if kind != _FROM_GPU:
        return cuda.cudaMemcpy(target, source, size, kind)
    memory, offset = cuda.memory_at(source)
    kept = bytes(memory.kept)
    if _read and _read[0][0] is target and _read[0][1:] == (kept, size) and offset % len(kept) == 0:
        return 0  # it is there already
    begin = offset % len(kept)
    ctypes.memmove(target, (kept * ((begin + size) // len(kept) + 1))[begin : begin + size], size)
    _read[:] = [(target, kept, size)] if begin == 0 else []
    return 0


def __getattr__(name: str) -> Callable[..., int]:
    """The function of CUDA's that HIP has under another first word."""
    if not name.startswith("hip"):
        raise AttributeError(name)
    function: Callable[..., int] = getattr(cuda, "cuda" + name.removeprefix("hip"))
    return function
