"""NVIDIA's management library (libnvidia-ml) as far as measuring programs use it, with C's names and signatures.

A process sees of a GPU what its own work does there. The functions' results are recorded of an H100
(tests/field_recordings/nvml.yaml).
"""

from typing import Any

from rehearsal.machines.gpu_libraries import load, machine, simulation
from rehearsal.machines.gpu_libraries.cuda import set_reference
from rehearsal.machines.hardware.gpu_models import LANES, board_serial

_SUCCESS, _UNINITIALIZED, _INVALID_ARGUMENT, _NOT_FOUND, _LOST = 0, 1, 2, 6, 15
"""nvmlReturn_t."""
_WORDS = {
    _SUCCESS: "Success",
    _UNINITIALIZED: "Uninitialized",
    _INVALID_ARGUMENT: "Invalid Argument",
    3: "Not Supported",
    4: "Insufficient Permissions",
    _NOT_FOUND: "Not Found",
    9: "Driver Not Loaded",
    12: "NVML Shared Library Not Found",
    13: "Function Not Found",
    _LOST: "GPU is lost",
    16: "GPU requires reset",
    17: "GPU access blocked by the operating system",
    999: "Unknown Error",
}
_SM, _MEMORY = 1, 2
_UNCORRECTED = 1
_OF_A_PROCESS, _BUSY = 518 << 20, 96
"""The memory of an H200 that a process takes which only opens it, and the load of one that makes products (one H200,
2026-11-28, tests/field_recordings/nvml.yaml).
"""


def nvmlErrorString(code: int) -> bytes:  # noqa: N802 NVML's names, all of them
    """The name of a result."""
    return _WORDS[code].encode()


def nvmlInit_v2() -> int:  # noqa: N802
    """Begin."""
    return _SUCCESS


def nvmlShutdown() -> int:  # noqa: N802
    """End."""
    return _SUCCESS


def nvmlDeviceGetHandleByPciBusId_v2(address: bytes, device: Any) -> int:  # noqa: N802
    """The GPU at a PCI address, of those that the container holds; a handle is its number, from 1."""
    held = [gpu.address for gpu in machine.gpus()]
    if address.decode().lower() not in held:
        return _NOT_FOUND
    return set_reference(device, held.index(address.decode().lower()) + 1)


def _of(device: Any) -> load.GpuUnderLoad:
    return load.of_number(device.value - 1)


def _text(buffer: Any, text: str) -> int:
    buffer.value = text.encode()
    return _SUCCESS


def nvmlDeviceGetIndex(device: Any, index: Any) -> int:  # noqa: N802
    """Its number."""
    return set_reference(index, device.value - 1)


def nvmlDeviceGetUUID(device: Any, buffer: Any, _size: int) -> int:  # noqa: N802
    """Its UUID."""
    return _text(buffer, _of(device).gpu.uuid)


def nvmlDeviceGetSerial(device: Any, buffer: Any, _size: int) -> int:  # noqa: N802
    """Serial number of its board: thirteen digits."""
    return _text(buffer, board_serial(_of(device).gpu.uuid))


def nvmlDeviceGetName(device: Any, buffer: Any, _size: int) -> int:  # noqa: N802
    """Name of its kind."""
    return _text(buffer, _of(device).gpu.model.name)


def nvmlDeviceGetPowerUsage(device: Any, milliwatts: Any) -> int:  # noqa: N802
    """Its power."""
    return set_reference(milliwatts, _of(device).milliwatts)


def nvmlDeviceGetEnforcedPowerLimit(device: Any, milliwatts: Any) -> int:  # noqa: N802
    """Its limit of power."""
    return set_reference(milliwatts, round(_of(device).gpu.model.watts * 1000))


def nvmlDeviceGetClockInfo(device: Any, kind: int, megahertz: Any) -> int:  # noqa: N802
    """A clock now."""
    gpu = _of(device)
    return set_reference(megahertz, gpu.gpu.model.memory_clock if kind == _MEMORY else gpu.sm_clock)


def nvmlDeviceGetMaxClockInfo(device: Any, kind: int, megahertz: Any) -> int:  # noqa: N802
    """The highest value of a clock."""
    model = _of(device).gpu.model
    return set_reference(megahertz, model.memory_clock if kind == _MEMORY else model.most_sm_clock)


def nvmlDeviceGetTemperature(device: Any, _sensor: int, celsius: Any) -> int:  # noqa: N802
    """Temperature of its chip."""
    return set_reference(celsius, _of(device).celsius)


def nvmlDeviceGetCurrentClocksEventReasons(device: Any, reasons: Any) -> int:  # noqa: N802
    """Why clocks are lower than they could be."""
    return set_reference(reasons, _of(device).reasons)


def nvmlDeviceGetCurrPcieLinkGeneration(device: Any, generation: Any) -> int:  # noqa: N802
    """Generation of its PCIe link now: the same at rest."""
    return nvmlDeviceGetMaxPcieLinkGeneration(device, generation)


def nvmlDeviceGetMaxPcieLinkGeneration(device: Any, generation: Any) -> int:  # noqa: N802
    """The highest value for GPU and machine."""
    return set_reference(generation, _of(device).gpu.model.generation)


def nvmlDeviceGetCurrPcieLinkWidth(device: Any, width: Any) -> int:  # noqa: N802
    """Lanes of its PCIe link."""
    return set_reference(width, _of(device).lanes)


def nvmlDeviceGetMaxPcieLinkWidth(_device: Any, width: Any) -> int:  # noqa: N802
    """The highest value for GPU and machine."""
    return set_reference(width, LANES)


def nvmlDeviceGetTotalEccErrors(device: Any, kind: int, _since: int, count: Any) -> int:  # noqa: N802
    """Errors of its memory."""
    return set_reference(count, 1 if kind == _UNCORRECTED and _of(device).sick else 0)


def nvmlDeviceGetRemappedRows(  # noqa: N802
    device: Any, corrected: Any, uncorrected: Any, pending: Any, failed: Any
) -> int:
    """Rows of its memory that spare ones replaced, or are to replace."""
    sick = int(_of(device).sick is not None)
    for reference, value in ((corrected, 0), (uncorrected, sick), (pending, sick), (failed, 0)):
        set_reference(reference, value)
    return _SUCCESS


def _processes(device: Any) -> int:
    ours = simulation.work.is_open and simulation.work.number == device.value - 1
    return int(ours) + int(_of(device).shared is not None)


def nvmlDeviceGetComputeRunningProcesses_v3(device: Any, count: Any, _found: Any) -> int:  # noqa: N802
    """The number of processes that work on it; their identities are never read."""
    return set_reference(count, _processes(device))


def nvmlDeviceGetMemoryInfo_v2(device: Any, result: Any) -> int:  # noqa: N802
    """The amount of its memory that is used."""
    result._obj.used = _processes(device) * _OF_A_PROCESS
    return _SUCCESS


def nvmlDeviceGetUtilizationRates(device: Any, result: Any) -> int:  # noqa: N802
    """The load in the last moments, in percent."""
    result._obj.gpu = _BUSY if simulation.work.makes_products or _of(device).shared else 0
    return _SUCCESS


def nvmlDeviceGetNvLinkState(device: Any, link: int, state: Any) -> int:  # noqa: N802
    """The state of an NVLink."""
    return set_reference(state, 1) if link < _of(device).gpu.model.nvlinks else _INVALID_ARGUMENT
