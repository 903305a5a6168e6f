"""Waits and thresholds."""

from collections.abc import Iterator
from contextlib import suppress

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.stack.settings.base import Unreadable
from aks_infiniband.stack.settings.mistakes import nearest
from aks_infiniband.stack.settings.operators import Readiness, ThresholdSettings
from aks_infiniband.stack.settings.reading import Inconsistency, Reading


def _poll_seconds(reading: Reading) -> Iterator[Inconsistency]:
    yield from _within_limit(reading.settings.readiness, "pollSeconds", reading.settings.readiness.poll_seconds)


def _stable_seconds(reading: Reading) -> Iterator[Inconsistency]:
    yield from _within_limit(reading.settings.readiness, "stableSeconds", reading.settings.readiness.stable_seconds)


def _within_limit(readiness: Readiness, key: str, seconds: float) -> Iterator[Inconsistency]:
    if seconds >= readiness.timeout_seconds:
        reason = f"must be less than timeoutSeconds, {readiness.timeout_seconds:g}"
        yield Inconsistency(("readiness", key), seconds, reason)


def _thresholds(reading: Reading) -> Iterator[Inconsistency]:
    """A threshold is of a figure that there is, says something, and warns before it fails."""
    for figure, bounds in reading.settings.validation.thresholds.items():
        path = ("validation", "thresholds", figure)
        if figure not in FIGURES:
            close = nearest(figure, list(FIGURES))
            hint = f"did you mean {close}? " if close else ""
            yield Inconsistency(path, None, f"is no figure; {hint}known: {', '.join(FIGURES)}")
        with suppress(Unreadable):
            yield from _bounds(path, figure, bounds)


def _bounds(path: tuple[str, ...], figure: str, bounds: ThresholdSettings) -> Iterator[Inconsistency]:
    if bounds.warn is None and bounds.fail is None:
        yield Inconsistency(path, {}, "must give warn or fail, or both")
    elif figure in FIGURES and bounds.warn is not None and bounds.fail is not None:
        higher = FIGURES[figure].better == "higher"
        if (bounds.warn < bounds.fail) if higher else (bounds.warn > bounds.fail):
            side = "not be less than" if higher else "not be more than"
            yield Inconsistency((*path, "warn"), bounds.warn, f"must {side} fail, {bounds.fail:g}: it fails first")


STACK = (_poll_seconds, _stable_seconds, _thresholds)
POOL = ()
