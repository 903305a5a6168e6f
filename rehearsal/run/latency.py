"""The rehearsal's clock: what the real thing takes, divided by a speed factor."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

_TABLE = Path(__file__).with_name("latency.yaml")


@cache
def _real_seconds() -> dict[str, float]:
    table: dict[str, float] = yaml.safe_load(_TABLE.read_text())
    return table


@dataclass(frozen=True, kw_only=True)
class Latencies:
    """Seconds that a simulated step takes here.

    speed: simulated seconds that pass in one real second, above 0; 1 is real time.
    """

    speed: float

    def __post_init__(self) -> None:
        if self.speed <= 0:
            raise ValueError(f"speed is {self.speed}; it must be above 0 (1 is real time, 60 an hour in a minute)")

    def seconds(self, step: str) -> float:
        """Seconds for a step of latency.yaml. Raises KeyError for a step that the table does not hold."""
        return self.of(_real_seconds()[step])

    def of(self, seconds: float) -> float:
        """Seconds here for what takes so many on the real thing."""
        return seconds / self.speed
