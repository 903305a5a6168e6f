"""The RDMA measurement of a pool: a ring, what falls short again, and then whose fault it is.

Every node is client and server at the same time, so the whole pool takes as long as one pair. Bandwidth is measured on
all rails at once, since HCAs of different rails share no link. All rails share PCIe switches and the host's memory, so
a figure that is less than expected then is measured alone, and that counts. Latency is measured on one rail after the
other: with other traffic it is that of the queues, and alone it takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count

from ..programs.clients import Answer
from ..say.expectations import Thresholds
from ..talk.steps import Step
from ..talk.time_left import ENDLESS, Time
from .measured import Measured
from .narrowing import Pair, Rails, blames, further_pairs, ring, rounds, wider
from .tasks import tasks_of
from .tool import KINDS

GROUPS = (("read-latency", "ping-pong"), ("write-bandwidth", "read-bandwidth"))
"""The kinds that are measured in one step, one after the other."""

DoStep = Callable[[Step], Mapping[str, Sequence[Answer] | None]]
"""Has every node do its part; returns the results of those that have answered, by node."""

_PASSES = 2
"""Rounds of measuring alone. Once some HCAs have been measured alone, another can turn out to be far from them."""


def measure(
    do_step: DoStep,
    rails: Rails,
    thresholds: Thresholds,
    *,
    tries: int,
    time: Time = ENDLESS,
    groups: Sequence[Sequence[str]] = GROUPS,
) -> Measured:
    """Measure every HCA with its two neighbours, and what falls short until it does not, ``tries`` times at most.

    The nodes are those of ``rails``, in the order of the ring. If other rails may have slowed a pair down, it is
    measured alone, and that figure counts. If nothing shows which end of a pair is at fault, both are measured with
    other ends, and again if those fall short for both: a good HCA may fail once on a busy machine. Outliers are
    narrowed down in the same way. A try that takes as long as its limit, because a tool hangs, is repeated once, not
    twice. Each step is one round (part.py).
    """
    measured = Measured(thresholds, rails)
    turns = count()

    def do(steps: Sequence[Step]) -> None:
        for step in steps:
            left, tasks = time.seconds_left(), tasks_of(step, list(rails), rails)
            if left > 0:
                told: Step = {**step, "turn": next(turns), "seconds": left}
                results = do_step(told)
                measured.add(tasks, results, late=time.was_short(left, KINDS[step["kind"]].seconds))
            else:
                measured.leave_out(tasks)

    def do_alone(wanted: Sequence[tuple[str, Pair]]) -> None:
        do(_steps_of(wanted))

    for kinds in groups:
        do(_first_steps(kinds, rails))
    for kinds in groups:
        for _ in range(_PASSES):
            do_alone([(kind, pair) for kind in kinds for pair in measured.doubtful(kind)])
        for _ in range(tries - 1):
            short = [(kind, pair) for kind in kinds for pair in measured.short(kind)]
            do_alone([(kind, pair) for kind, pair in short if not measured.waited_twice(kind, pair)])
        _tell_apart(measured, kinds, do_alone, tries)
    measured.leave_doubtful()
    return measured


_DISTANCES = (2, 3)
"""In the ring, for pairs between machines that do not follow one another."""


def _first_steps(kinds: Sequence[str], rails: Rails) -> list[Step]:
    """Measure all neighbours: all rails at once if there are several and the tools can do that, otherwise one after the
    other.
    """
    places = range(len(ring(list(rails), rails)))
    several = len({rail for of_node in rails.values() for rail in of_node.values()}) > 1
    if several and all(KINDS[kind].side_by_side for kind in kinds):
        return [{"kind": kind, "side_by_side": True} for kind in kinds if places]
    return [{"kind": kind, "rail": place} for place in places for kind in kinds]


def _tell_apart(
    measured: Measured, kinds: Sequence[str], do_alone: Callable[[Sequence[tuple[str, Pair]]], None], tries: int
) -> None:
    """Measure the further pairs that show which end is at fault, and again those that have not shown it.

    Without a good pair no end is known to be good. Bad machines that sit between good ones in the ring do that, so the
    machines are measured over wider distances first.
    """
    for distance in _DISTANCES:
        apart = [
            (kind, pair) for kind in kinds if _has_none(measured, kind) for pair in wider(measured.rails, distance)
        ]
        for kind, pair in apart:
            measured.further[kind].add(pair)
        do_alone(apart)
    further = [(kind, pair) for kind in kinds for pair in _telling(measured, kind)]
    for kind, pair in further:
        measured.further[kind].add(pair)
    do_alone(further)
    for _ in range(tries - 1):
        do_alone([(kind, pair) for kind in kinds for pair in _untold(measured, kind)])


def _has_none(measured: Measured, kind: str) -> bool:
    """True if no pair is good, and nothing else names an end that is at fault."""
    short = measured.short(kind)
    return bool(short) and not measured.good(kind) and not any(measured.is_settled(kind, pair) for pair in short)


def _telling(measured: Measured, kind: str) -> list[Pair]:
    """The pairs that would show which end is at fault, for pairs that fall short and for outliers."""
    far = {pair for pairs in measured.outliers(kind).values() for pair in pairs}
    bad = [*(pair for pair in measured.short(kind) if not measured.is_settled(kind, pair)), *sorted(far)]
    good = [pair for pair in measured.good(kind) if pair not in far]
    return further_pairs(bad, good, measured.rails) if bad else []


def _untold(measured: Measured, kind: str) -> list[Pair]:
    """The further pairs that fall short without having told which end it is: both are in doubt, or another is named."""
    short = measured.short(kind)
    bad = [pair for pair in short if not measured.is_settled(kind, pair)]
    found = blames(bad, measured.good(kind))
    doubted = {end for blame in found if len(blame.guilty) == len(blame.pair) for end in blame.pair}
    further = [pair for pair in short if pair in measured.further[kind] and not measured.waited_twice(kind, pair)]
    return [pair for pair in further if measured.is_settled(kind, pair) or not doubted.isdisjoint(pair)]


def _steps_of(wanted: Sequence[tuple[str, Pair]]) -> list[Step]:
    """Steps that measure these, one kind after the other, a round in each."""
    return [
        {"kind": kind, "pairs": [(*pair.client, *pair.server) for pair in together]}
        for kind in dict.fromkeys(kind for kind, _ in wanted)
        for together in rounds([pair for other, pair in wanted if other == kind])
    ]
