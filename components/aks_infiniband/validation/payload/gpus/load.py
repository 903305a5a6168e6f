"""One GPU under load: windows of products, one after the other without a pause, and NVML read at the end of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from ..collective.gpu import Gpu
from ..say.steadiness import Spread, spread_of
from .copies import wait
from .nvml import Nvml
from .others import Watch
from .product import OPERATIONS, ORDER, Products
from .results import Load

WINDOW_SECONDS = 0.2
WARMUP_SECONDS = 2.0
"""Not counted: clocks fall when power has reached its limit, and NVML's power is the mean of the last second."""
_LIMIT_SECONDS = 30.0
"""For one window: far more than any GPU needs that is not stuck."""


class Reading(NamedTuple):
    """One window: its rate in TFLOP/s, and NVML's readings at its end; None if it does not report them."""

    rate: float
    watts: float | None
    sm_clock: int | None
    memory_clock: int | None
    temperature: int | None
    reasons: list[str] | None


def under_load(gpu: Gpu, products: Products, nvml: Nvml | None, watch: Watch | None, seconds: float) -> Load:
    """Load a GPU for so many seconds in addition to those to warm up, and watch for other work. Raises RuntimeError,
    TimeoutError.
    """
    count = _window(gpu, products)
    if watch is not None:
        watch.filled()
    lines = []
    for reading in readings(gpu, products, nvml, count, seconds + WARMUP_SECONDS):
        lines.append(reading)
        if watch is not None:
            watch.note()
    limits = (None, None) if nvml is None else (nvml.watts_limit, nvml.most_sm_clock)
    return summary(lines, seconds=seconds, precision=products.precision, limits=limits)


def readings(gpu: Gpu, products: Products, nvml: Nvml | None, count: int, seconds: float) -> Iterator[Reading]:
    """Windows of so many products for so many seconds; those of the warm-up are left out."""
    ends = [gpu.event() for _ in range(3)]
    gpu.record(ends[0])
    products.queue(count)
    gpu.record(ends[1])
    spent = 0.0
    for number in range(1, 1 << 30):
        begin, end, following = (ends[(number + step) % 3] for step in (-1, 0, 1))
        products.queue(count)  # before the last window is waited for: a GPU that pauses cools
        gpu.record(following)
        wait(gpu, end, _LIMIT_SECONDS)
        took = gpu.seconds(begin, end)
        spent += took
        reading = _reading(count * OPERATIONS / took / 1e12, nvml)
        if spent > WARMUP_SECONDS:
            yield reading
        if spent >= seconds:
            wait(gpu, following, _LIMIT_SECONDS)
            return


def _window(gpu: Gpu, products: Products) -> int:
    """The number of products in a window."""
    begin, end = gpu.event(), gpu.event()
    products.queue(1)  # loads what the first one needs
    gpu.record(begin)
    products.queue(1)
    gpu.record(end)
    wait(gpu, end, _LIMIT_SECONDS)
    return max(1, round(WINDOW_SECONDS / gpu.seconds(begin, end)))


def _reading(rate: float, nvml: Nvml | None) -> Reading:
    if nvml is None:
        return Reading(rate, None, None, None, None, None)
    return Reading(rate, nvml.watts, nvml.sm_clock, nvml.memory_clock, nvml.temperature, nvml.reasons)


def summary(
    readings: Sequence[Reading], *, seconds: float, precision: str, limits: tuple[float | None, int | None]
) -> Load:
    """The summary of readings under load. limits: most power in W, most SM clock in MHz."""
    rates = [reading.rate for reading in readings]
    rate = spread_of(rates)
    if rate is None:
        raise RuntimeError("no window of products came to an end")
    fifth = max(1, len(rates) // 5)
    told = [reading.reasons for reading in readings if reading.reasons is not None]
    counted = Counter(reason for reasons in told for reason in reasons)
    return {
        "seconds": seconds,
        "precision": precision,
        "order": ORDER,
        "rate": rate,
        "begin": float(f"{median(rates[:fifth]):.4g}"),
        "end": float(f"{median(rates[-fifth:]):.4g}"),
        "power": _spread([reading.watts for reading in readings]),
        "power_limit": limits[0],
        "sm_clock": _spread([reading.sm_clock for reading in readings]),
        "most_sm_clock": limits[1],
        "memory_clock": _spread([reading.memory_clock for reading in readings]),
        "temperature": _spread([reading.temperature for reading in readings]),
        "reasons": {reason: round(count / len(told), 3) for reason, count in counted.items()},
    }


def _spread(values: Sequence[float | None]) -> Spread | None:
    return spread_of([value for value in values if value is not None])
