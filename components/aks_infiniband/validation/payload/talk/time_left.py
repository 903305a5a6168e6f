"""How much time is left for the steps of a run, and whether a node that says nothing of one had enough of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

TIME_IS_UP = "time was up before it was measured (validation.timeoutSeconds)"


class Time(NamedTuple):
    """The time of a run."""

    seconds_left: Callable[[], float]
    """For all further steps together."""
    step_seconds: Callable[[float], float]
    """What a step may take whose tool may take so long."""

    @property
    def is_left(self) -> bool:
        """Whether a further step can be made."""
        return self.seconds_left() > 0

    def was_short(self, before: float, tool_seconds: float) -> bool:
        """Whether time was up in a step that had less time left than it may take. before: what was left when it began.

        A node that has not answered then may be sound.
        """
        return not self.is_left and before < self.step_seconds(tool_seconds)


ENDLESS = Time(lambda: math.inf, lambda tool_seconds: 0.0)
