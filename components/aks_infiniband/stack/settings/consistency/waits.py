"""Waits and thresholds."""

from collections.abc import Iterator

from aks_infiniband.facts.baselines import FIGURES
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen
from aks_infiniband.stack.settings.mistakes import nearest


def check(seen: Seen) -> Iterator[Inconsistency]:
    """What a wait needs at the least fits into its limit; a threshold says something, and warns before it fails."""
    readiness = seen.settings.readiness
    if readiness is not None and readiness.timeout_seconds is not None:
        for key, seconds in (("pollSeconds", readiness.poll_seconds), ("stableSeconds", readiness.stable_seconds)):
            if seconds is not None and seconds >= readiness.timeout_seconds:
                reason = f"must be less than timeoutSeconds, {readiness.timeout_seconds:g}"
                yield Inconsistency(("readiness", key), seconds, reason)
    yield from _thresholds(seen)


def _thresholds(seen: Seen) -> Iterator[Inconsistency]:
    validation = seen.settings.validation
    for figure, bounds in ((validation and validation.thresholds) or {}).items():
        path = ("validation", "thresholds", figure)
        if figure not in FIGURES:
            close = nearest(figure, list(FIGURES))
            hint = f"did you mean {close}? " if close else ""
            yield Inconsistency(path, None, f"is no figure; {hint}known: {', '.join(FIGURES)}")
        if seen.is_wrong(*path) or bounds is None:
            continue
        if bounds.warn is None and bounds.fail is None:
            yield Inconsistency(path, {}, "must give warn or fail, or both")
        elif figure in FIGURES and bounds.warn is not None and bounds.fail is not None:
            higher = FIGURES[figure].better == "higher"
            if (bounds.warn < bounds.fail) if higher else (bounds.warn > bounds.fail):
                side = "not be less than" if higher else "not be more than"
                yield Inconsistency((*path, "warn"), bounds.warn, f"must {side} fail, {bounds.fail:g}: it fails first")
