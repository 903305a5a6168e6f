"""Waiting for simulated time to pass and for operations to end; every wait can be interrupted."""

import threading
import time
from collections import Counter
from collections.abc import Callable

from rehearsal.run.latency import Latencies


class Stopped(Exception):  # noqa: N818 - it is no error: the simulator was told to stop
    """The simulator is stopping. Whatever is under way carries on at its next start."""


class Cancelled(Exception):  # noqa: N818 - as above
    """The engine gave up waiting; Azure carries on."""


class Clock:
    """The simulated time that operations take, and the one lock over the subscription's state."""

    def __init__(self, speed: float) -> None:
        self.latencies = Latencies(speed=speed)
        self.changed = threading.Condition(threading.RLock())
        self._stopping = False
        self._cancellations: Counter[str] = Counter()

    def stop(self) -> None:
        """End every wait with Stopped."""
        with self.changed:
            self._stopping = True
            self.changed.notify_all()

    def cancel(self, caller: str) -> None:
        """End every `wait_for` of a caller that is under way with Cancelled."""
        with self.changed:
            self._cancellations[caller] += 1
            self.changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Let real seconds pass. Raises Stopped."""
        with self.changed:
            self.changed.wait_for(lambda: self._stopping, timeout=max(0.0, seconds))
            if self._stopping:
                raise Stopped

    def pause_until(self, moment: float) -> None:
        """Wait for a moment, in seconds since the epoch. Raises Stopped."""
        self.pause(moment - time.time())

    def wait_for(self, done: Callable[[], bool], caller: str = "") -> None:
        """Wait until `done` holds; it is called again at every notification of `changed`. Raises Cancelled, Stopped."""
        with self.changed:
            before = self._cancellations[caller]
            self.changed.wait_for(lambda: done() or self._stopping or self._cancellations[caller] != before)
            if self._stopping:
                raise Stopped
            if not done():
                raise Cancelled
