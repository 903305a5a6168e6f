"""cuBLAS (libcublas) as far as measuring programs use it, with C's names and signatures: products that take their time.

Nothing is multiplied.
"""

from typing import Any

from rehearsal.machines.gpu_libraries import load, simulation
from rehearsal.machines.gpu_libraries.cuda import set_reference

_SUCCESS, _NOT_SUPPORTED = 0, 15
"""cublasStatus_t."""
_BF16, _AMPERE = 14, 8


def cublasGetStatusString(status: int) -> bytes:  # noqa: N802 cuBLAS' names, all of them
    """The name of a status."""
    return {_NOT_SUPPORTED: b"CUBLAS_STATUS_NOT_SUPPORTED"}.get(status, b"unknown cuBLAS error")


def cublasCreate_v2(handle: Any) -> int:  # noqa: N802
    """Begin with the GPU that is set."""
    return set_reference(handle, 1)


def cublasSetStream_v2(_handle: Any, _stream: Any) -> int:  # noqa: N802
    """There is one stream."""
    return _SUCCESS


def cublasGemmEx(  # noqa: N802
    _handle: Any, _first: int, _second: int, rows: int, columns: int, inner: int, _one: Any, _left: Any, kind: int,
    *_others: Any,
) -> int:  # fmt: skip
    """Queue a product of two matrices."""
    gpu = load.working()
    if kind == _BF16 and gpu.gpu.model.capability < _AMPERE:
        return _NOT_SUPPORTED
    simulation.work.makes_products = True
    simulation.clock.seconds += gpu.product_seconds(2.0 * rows * columns * inner)
    return _SUCCESS
