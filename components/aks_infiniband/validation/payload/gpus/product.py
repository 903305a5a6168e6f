"""Products of matrices on one GPU, by cuBLAS: the work that trainings are made of, and all that a GPU can draw."""

from __future__ import annotations

import ctypes
import struct
from random import Random
from typing import Any

from ..collective.gpu import Gpu, opened

LIBRARIES = ("libcublas.so.13", "libcublas.so.12", "libcublas.so.11")
ORDER = 8192
"""Rows and columns: three matrices of 128 MiB fill every GPU of the catalogue, and are far larger than its caches."""
OPERATIONS = 2 * ORDER**3
"""Multiplications and additions of one product."""

_BF16, _FP16 = 14, 2
"""CUDA_R_16BF, CUDA_R_16F (library_types.h)."""
_SUMS_IN_FLOAT, _ANY_ALGORITHM, _AS_IT_IS = 68, -1, 0
"""CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT, CUBLAS_OP_N (cublas_api.h)."""
_AMPERE = 8
"""Compute capability from which tensor cores know bf16."""
_MAJOR = 75
"""cudaDevAttrComputeCapabilityMajor."""
_VALUES = 65521
"""Number of values in the pattern that fills the matrices, random and normal: a prime, so that no two rows of a matrix
are alike. On zeros a product is faster than on any real data.
"""


class Products:
    """Products of two matrices of a GPU's own, queued on its stream."""

    def __init__(self, gpu: Gpu, number: int) -> None:
        """number: of the GPU. Raises OSError if the image lacks cuBLAS, RuntimeError."""
        self._library = opened(LIBRARIES)
        major = ctypes.c_int()
        gpu.call("DeviceGetAttribute", ctypes.byref(major), _MAJOR, number)
        self.precision = "bfloat16" if major.value >= _AMPERE else "float16"
        self._kind = _BF16 if major.value >= _AMPERE else _FP16
        self._handle = ctypes.c_void_p()
        self._declare()
        self._check(self._library.cublasCreate_v2(ctypes.byref(self._handle)))
        self._check(self._library.cublasSetStream_v2(self._handle, gpu.stream))
        self._matrices = [gpu.allocate(2 * ORDER**2) for _ in range(3)]
        for place, matrix in enumerate(self._matrices[:2]):
            gpu.fill(matrix, 2 * ORDER**2, random_values(place, self.precision))

    def queue(self, times: int) -> None:
        """Have so many products made, one after the other."""
        one, zero = ctypes.c_float(1.0), ctypes.c_float(0.0)
        left, right, product = map(ctypes.c_void_p, self._matrices)
        for _ in range(times):
            code = self._library.cublasGemmEx(
                self._handle,
                *(_AS_IT_IS, _AS_IT_IS, ORDER, ORDER, ORDER, ctypes.byref(one)),
                *(left, self._kind, ORDER, right, self._kind, ORDER, ctypes.byref(zero)),
                *(product, self._kind, ORDER, _SUMS_IN_FLOAT, _ANY_ALGORITHM),
            )
            if code:
                self._check(code)

    def _declare(self) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int
        self._library.cublasCreate_v2.argtypes = [ctypes.POINTER(pointer)]
        self._library.cublasSetStream_v2.argtypes = [pointer, pointer]
        self._library.cublasGemmEx.argtypes = [
            *(pointer, *[number] * 5, pointer),
            *(*(pointer, number, number) * 2, pointer),
            *(pointer, *[number] * 4),
        ]

    def _check(self, code: int) -> None:
        if code:
            words = getattr(self._library, "cublasGetStatusString", None)  # of cuBLAS 11.4.2 and later
            said: Any = code
            if words is not None:
                words.restype = ctypes.c_char_p
                said = words(code).decode(errors="replace")
            raise RuntimeError(f"cuBLAS error: {said}")


def random_values(seed: int, precision: str) -> bytes:
    """Random numbers of a precision, two bytes each; the same for each seed."""
    draw = Random(seed)  # noqa: S311 figures, no secret
    values = [draw.gauss(0, 1) for _ in range(_VALUES)]
    if precision == "float16":
        return struct.pack(f"<{_VALUES}e", *values)
    whole = struct.pack(f"<{_VALUES}f", *values)  # bfloat16 is the upper half of a float
    return b"".join(whole[place + 2 : place + 4] for place in range(0, len(whole), 4))
