"""The time that is left for the steps of a run, and the judgement of a node that did not answer in time."""

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
    """Duration of a step whose tool may take so long."""

    @property
    def is_left(self) -> bool:
        """True if a further step can be made."""
        return self.seconds_left() > 0

    def was_short(self, before: float, tool_seconds: float) -> bool:
        """True if time was up in a step that had less time left than it may take. before: the time left when it began.

        A node that has not answered then may be sound.
        """
        return not self.is_left and before < self.step_seconds(tool_seconds)


ENDLESS = Time(lambda: math.inf, lambda tool_seconds: 0.0)
