"""A simulated GPU's figures under load, with its faults: rates, copies, clocks, power and temperature.

The spreads are those of two H100 of one host (docs/measurements.md): windows of products differ by 3.1 %, power by
0.3 %, copies by 0.1 %. Two healthy ones differed by 0.9 %, on another
host by 3.3 %; 1 % is assumed.
"""

import functools
from random import Random
from typing import Any, Final

from rehearsal.machines.gpu_libraries import machine, simulation
from rehearsal.machines.hardware.gpu_models import LANES

_OF_GPUS, _OF_WINDOWS, _OF_POWER, _OF_COPIES = 0.01, 0.031, 0.003, 0.001
_TOGETHER: Final = 128
"""So many products in a row have one rate: clocks change more slowly than products come."""
_IDLE_WATTS: Final = 71
_IDLE_SM_CLOCK: Final = 345
_HOT, _WARM, _COOL = 92, 66, 42
"""Temperatures in °C: of a GPU that slows down for it (its limit is 89, nvidia-smi -q of an H100), under load, idle."""
POWER_CAP, THERMAL, IDLE = 0x4, 0x8 | 0x40, 0x1
"""NVML's reasons of lower clocks: a hardware slowdown is reported in addition to its reason (assumed)."""


class GpuUnderLoad:
    """A GPU of this container, by its number."""

    def __init__(self, number: int) -> None:
        """Raises IndexError if there is none."""
        self.number, self.gpu = number, machine.gpus()[number]
        self._draw = Random(self.gpu.uuid)  # noqa: S311 figures, no secret
        self._able = 1 - abs(self._draw.gauss(0, _OF_GPUS))
        self._made, self._now = 0, 1.0
        self._hot = machine.gpu_fault("throttled-gpu", number)
        self._slow = machine.gpu_fault("slow-gpu", number)
        self._lanes = machine.gpu_fault("half-lanes", number)
        self.shared: dict[str, Any] | None = machine.gpu_fault("other-work", number)
        self.sick: dict[str, Any] | None = machine.gpu_fault("gpu-memory", number)

    def product_seconds(self, operations: float) -> float:
        """Duration of one product."""
        if self._made % _TOGETHER == 0:
            self._now = self._draw.gauss(1, _OF_WINDOWS)
        self._made += 1
        share = self._able * self._now
        for fault in (self._hot, self._slow, self.shared):
            share *= fault["factor"] if fault else 1
        return operations / (self.gpu.model.tflops * 1e12 * share)

    def host_bytes_a_second(self) -> float:
        """Between its memory and the host's."""
        share = self.lanes / LANES * self._draw.gauss(1, _OF_COPIES)
        return self.gpu.model.host_gb_per_s * 1e9 * share

    def peer_bytes_a_second(self) -> float:
        """To another GPU's memory, over NVLink."""
        return self.gpu.model.peer_gb_per_s * 1e9 * self._draw.gauss(1, _OF_COPIES)

    @property
    def lanes(self) -> int:
        """Lanes of its PCIe link."""
        return LANES // 2 if self._lanes else LANES

    @property
    def sm_clock(self) -> int:
        """In MHz."""
        if not simulation.work.makes_products:
            return _IDLE_SM_CLOCK
        factor = self._hot["factor"] if self._hot else 1
        return round(self.gpu.model.loaded_sm_clock * self._now * factor)

    @property
    def milliwatts(self) -> int:
        """Its power."""
        if not simulation.work.makes_products:
            return _IDLE_WATTS * 1000
        factor = self._hot["factor"] if self._hot else 1
        return round(self.gpu.model.watts * 998 * self._draw.gauss(1, _OF_POWER) * factor)

    @property
    def celsius(self) -> int:
        """Its temperature."""
        if not simulation.work.makes_products:
            return _COOL
        return _HOT if self._hot else _WARM

    @property
    def reasons(self) -> int:
        """Reasons of lower clocks, as NVML's bits."""
        if not simulation.work.makes_products:
            return IDLE
        return THERMAL if self._hot else POWER_CAP


@functools.cache
def of_number(number: int) -> GpuUnderLoad:
    """The GPU of a number, the same each time. Raises IndexError if there is none."""
    return GpuUnderLoad(number)


def working() -> GpuUnderLoad:
    """The GPU that this process has chosen."""
    return of_number(simulation.work.number)
