"""A GPU's facts about itself: NVIDIA's management library (NVML), by Python's ctypes.

The container toolkit brings libnvidia-ml.so.1 with the driver. A function that a driver or a GPU does not have gives
None, never a guess. Numbers of constants are those of nvml.h.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .results import Memory, Pcie

LIBRARY = "libnvidia-ml.so.1"
REASONS = {
    0x1: "idle",
    0x2: "applications clocks setting",
    0x4: "software power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "hardware power brake",
    0x100: "display clock setting",
}
"""nvmlClocksEventReasons: why clocks are lower than they could be."""

_GONE = (15, 16)
"""NVML_ERROR_GPU_IS_LOST and NVML_ERROR_RESET_REQUIRED. With any other code a GPU or its driver does not report
something.
"""
_SM, _MEMORY = 1, 2
"""nvmlClockType_t."""
_UNCORRECTED, _VOLATILE = 1, 0
"""nvmlMemoryErrorType_t, nvmlEccCounterType_t."""
_TEXT_BYTES = 96
_MOST_PROCESSES = 256
_MOST_NVLINKS = 18
"""NVML_NVLINK_MAX_LINKS: of Hopper and Blackwell."""


class _Process(ctypes.Structure):
    """nvmlProcessInfo_t, as from version 2 of the functions on."""

    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class _MemoryUse(ctypes.Structure):
    """nvmlMemory_v2_t, in which what the driver keeps for itself is not used."""

    _fields_ = (("version", ctypes.c_uint), *((name, ctypes.c_ulonglong) for name in ("total", "kept", "free", "used")))


_MEMORY_VERSION = ctypes.sizeof(_MemoryUse) | 2 << 24


class _Utilization(ctypes.Structure):
    """nvmlUtilization_t, in percent."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class NvmlError(RuntimeError):
    """NVML does not answer for a GPU, or for all; the words are its own."""


class Nvml:
    """NVML for the GPU at a PCI address."""

    def __init__(self, pci: str) -> None:
        """Raises OSError without a library, NvmlError."""
        self._library: Any = ctypes.CDLL(LIBRARY)
        self._library.nvmlErrorString.restype = ctypes.c_char_p
        self._check(self._library.nvmlInit_v2())
        self._device = ctypes.c_void_p()
        self._library.nvmlDeviceGetHandleByPciBusId_v2.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]
        self._check(self._library.nvmlDeviceGetHandleByPciBusId_v2(pci.encode(), ctypes.byref(self._device)))

    def close(self) -> None:
        """Done with it."""
        self._library.nvmlShutdown()

    @property
    def index(self) -> int | None:
        """Its number among the GPUs of the container, in the order of PCI addresses."""
        return self._number("nvmlDeviceGetIndex")

    @property
    def uuid(self) -> str | None:
        """GPU-, and its identifier."""
        return self._text("nvmlDeviceGetUUID")

    @property
    def serial(self) -> str | None:
        """Serial number of its board."""
        return self._text("nvmlDeviceGetSerial")

    @property
    def model(self) -> str | None:
        """Such as `NVIDIA H100 80GB HBM3`."""
        return self._text("nvmlDeviceGetName")

    @property
    def watts(self) -> float | None:
        """The power that it draws; from Ampere on the mean of the last second."""
        return _thousandth(self._number("nvmlDeviceGetPowerUsage"))

    @property
    def watts_limit(self) -> float | None:
        """The most that it may draw."""
        return _thousandth(self._number("nvmlDeviceGetEnforcedPowerLimit"))

    @property
    def sm_clock(self) -> int | None:
        """Clock of its processors, in MHz."""
        return self._number("nvmlDeviceGetClockInfo", _SM)

    @property
    def most_sm_clock(self) -> int | None:
        """The highest clock of its processors."""
        return self._number("nvmlDeviceGetMaxClockInfo", _SM)

    @property
    def memory_clock(self) -> int | None:
        """Clock of its memory, in MHz."""
        return self._number("nvmlDeviceGetClockInfo", _MEMORY)

    @property
    def temperature(self) -> int | None:
        """Temperature of the chip, in °C."""
        return self._number("nvmlDeviceGetTemperature", 0)

    @property
    def reasons(self) -> list[str] | None:
        """Why clocks are lower than they could be, now."""
        for name in ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"):
            bits = ctypes.c_ulonglong()
            if self._asked(name, ctypes.byref(bits)):
                return [word for bit, word in REASONS.items() if bits.value & bit]
        return None

    @property
    def pcie(self) -> Pcie:
        """Its link now; at rest a link may be slower than it can be."""
        return {
            "generation": self._number("nvmlDeviceGetCurrPcieLinkGeneration"),
            "width": self._number("nvmlDeviceGetCurrPcieLinkWidth"),
            "most_generation": self._number("nvmlDeviceGetMaxPcieLinkGeneration"),
            "most_width": self._number("nvmlDeviceGetMaxPcieLinkWidth"),
        }

    @property
    def memory(self) -> Memory:
        """Errors of its memory."""
        uncorrected = ctypes.c_ulonglong()
        counts = [ctypes.c_uint() for _ in range(4)]
        counted = self._asked("nvmlDeviceGetTotalEccErrors", _UNCORRECTED, _VOLATILE, ctypes.byref(uncorrected))
        remaps = self._asked("nvmlDeviceGetRemappedRows", *map(ctypes.byref, counts))
        corrected, broken, pending, failed = (count.value if remaps else None for count in counts)
        return {
            "uncorrected": uncorrected.value if counted else None,
            "remapped": None if corrected is None or broken is None else corrected + broken,
            "pending": None if pending is None else bool(pending),
            "failed": None if failed is None else bool(failed),
        }

    @property
    def processes(self) -> int | None:
        """The number of processes that compute on it. In a pod a driver may show none of them, or only those of the
        pod.
        """
        entries = (_Process * _MOST_PROCESSES)()
        for version in ("_v3", "_v2"):
            count = ctypes.c_uint(_MOST_PROCESSES)
            if self._asked(f"nvmlDeviceGetComputeRunningProcesses{version}", ctypes.byref(count), entries):
                return count.value
        return None

    @property
    def mebibytes(self) -> int | None:
        """The part of its memory that all processes use, those that a pod does not see among them."""
        memory = _MemoryUse(version=_MEMORY_VERSION)
        return memory.used >> 20 if self._asked("nvmlDeviceGetMemoryInfo_v2", ctypes.byref(memory)) else None

    @property
    def busy(self) -> float | None:
        """In which share of the last moments something ran on it."""
        utilization = _Utilization()
        told = self._asked("nvmlDeviceGetUtilizationRates", ctypes.byref(utilization))
        return utilization.gpu / 100 if told else None

    @property
    def nvlinks(self) -> int | None:
        """The number of NVLinks that are up; None if NVML reports none."""
        states = []
        for link in range(_MOST_NVLINKS):
            state = ctypes.c_uint()
            if self._asked("nvmlDeviceGetNvLinkState", link, ctypes.byref(state)):
                states.append(state.value)
        return sum(state == 1 for state in states) if states else None

    def _number(self, name: str, *arguments: int) -> int | None:
        number = ctypes.c_uint()
        return number.value if self._asked(name, *arguments, ctypes.byref(number)) else None

    def _text(self, name: str) -> str | None:
        buffer = ctypes.create_string_buffer(_TEXT_BYTES)
        return buffer.value.decode(errors="replace") if self._asked(name, buffer, _TEXT_BYTES) else None

    def _asked(self, name: str, *arguments: Any) -> bool:
        """True if a function exists and has answered. Raises NvmlError for a GPU that is lost."""
        function = getattr(self._library, name, None)
        code: int = 1 if function is None else function(self._device, *arguments)
        if code in _GONE:
            self._check(code)
        return code == 0

    def _check(self, code: int) -> None:
        if code:
            raise NvmlError(f"NVML error: {self._library.nvmlErrorString(code).decode(errors='replace')}")


def _thousandth(value: int | None) -> float | None:
    return None if value is None else value / 1000
