"""The rest between two looks at a cluster."""

from dataclasses import dataclass
from typing import Final

_OFTEN_SECONDS: Final = 60
_REST_SECONDS: Final = 30


@dataclass
class Pace:
    """A look lists all pods, so what takes minutes is looked at often, and what takes hours seldom: a job, mostly."""

    _why: str = ""
    _since: float = 0

    def rest(self, why: str, now: float) -> float:
        """Seconds to rest in addition to the usual ones. why: the subject of the wait; now: of a clock, in seconds."""
        if why != self._why:
            self._why, self._since = why, now
        return _REST_SECONDS if now - self._since > _OFTEN_SECONDS else 0
