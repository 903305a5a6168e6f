"""torch.cuda: which GPU, and the clock of its stream."""

from typing import Any

from rehearsal.machines.gpu_libraries import machine, simulation


def device_count() -> int:
    """GPUs of this container."""
    return machine.gpus()


def is_available() -> bool:
    """Whether there is a GPU."""
    return device_count() > 0


def set_device(index: int) -> None:
    """Choose a GPU. Raises RuntimeError, in CUDA's words, where there is none of that number."""
    if index >= device_count():
        raise RuntimeError(
            "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?"
        )


def synchronize(device: Any = None) -> None:
    """Wait for the GPU: nothing to wait for."""


class Event:
    """A moment on the stream."""

    def __init__(self, enable_timing: bool = False) -> None:
        """Without enable_timing an event has no time, as in CUDA; here it always has."""
        self._seconds = 0.0

    def record(self) -> None:
        """Now."""
        self._seconds = simulation.clock.seconds

    def synchronize(self) -> None:
        """Wait until it has happened: it has."""

    def elapsed_time(self, end: "Event") -> float:
        """Milliseconds from this event to another."""
        return (end._seconds - self._seconds) * 1e3
