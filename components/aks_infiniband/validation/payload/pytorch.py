"""PyTorch's distributed package over NCCL (on AMD GPUs over RCCL): what a rank needs of it to see what a job sees."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from .gpu import expected_sum, own_value

_CHUNK = 1 << 26
"""Elements filled or checked at once, so that a 16 GiB message needs little memory beside itself."""


class TorchRanks:
    """All ranks of a run as one of them sees them (collective_rank.Ranks); raises whatever PyTorch raises."""

    def __init__(self, *, rank: int, ranks: int, gpu: int, meeting: str, limit_seconds: float) -> None:
        """``meeting`` is an address and a port of node rank 0; NCCL's watchdog ends a rank after the limit."""
        self._rank, self._ranks = rank, ranks
        self._torch: Any = importlib.import_module("torch")  # only here: everything else of the payload does without
        self._dist: Any = importlib.import_module("torch.distributed")
        self._torch.cuda.set_device(gpu)
        self._device = self._torch.device("cuda", gpu)
        self.torch = str(self._torch.__version__)
        self._dist.init_process_group(
            "nccl",
            init_method=f"tcp://{meeting}",
            timeout=timedelta(seconds=limit_seconds),
            rank=rank,
            world_size=ranks,
        )
        self._start = self._torch.zeros(1, device=self._device)
        self._message: Any = None

    def allocate(self, count: int) -> None:
        self._message = None
        self._message = self._torch.empty(count, dtype=self._torch.float32, device=self._device)

    def fill(self) -> None:
        for part, positions in self._chunks():
            part.copy_(own_value(positions, self._rank))

    def wrong(self) -> int:
        chunks = self._chunks()
        return sum(int((part != expected_sum(positions, self._ranks)).sum().item()) for part, positions in chunks)

    def timed(self, iterations: int) -> float:
        cuda = self._torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self._dist.all_reduce(self._start)
        begin.record()
        for _ in range(iterations):
            self._dist.all_reduce(self._message)
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1e3

    def largest(self, *numbers: float) -> Sequence[float]:
        values = self._torch.tensor(list(numbers), dtype=self._torch.float64, device=self._device)
        self._dist.all_reduce(values, op=self._dist.ReduceOp.MAX)
        found: Sequence[float] = values.tolist()
        return found

    def close(self) -> None:
        self._dist.destroy_process_group()

    def _chunks(self) -> Iterator[tuple[Any, Any]]:
        """The message piece by piece, each with its positions."""
        for start in range(0, len(self._message), _CHUNK):
            part = self._message[start : start + _CHUNK]
            yield part, self._torch.arange(start, start + len(part), device=self._device)
