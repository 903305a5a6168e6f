"""The processor's clock, as a virtual machine gets it."""

import ctypes
import statistics
import time
from pathlib import Path


def clock_khz(library: Path) -> int:
    """Measure the frequency of the processor's clock: the middle one of five, for this process may be held up."""
    ticks = ctypes.CDLL(str(library)).ticks
    ticks.restype = ctypes.c_ulonglong
    rates = []
    for _ in range(5):
        began, first = time.monotonic_ns(), ticks()
        time.sleep(0.05)
        rates.append((ticks() - first) * 1_000_000 // (time.monotonic_ns() - began))
    return int(statistics.median(rates))
