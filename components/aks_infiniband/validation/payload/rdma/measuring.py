"""The RDMA measurement of a pool: a ring, what falls short again, and then whose fault it is.

Every node is client and server at the same time, so the whole pool takes as long as one pair. Bandwidth is measured on
all rails at once, since HCAs of different rails share no link. All rails share PCIe switches and the host's memory, so
a figure that is less than expected then is measured alone, and that counts. Latency is measured on one rail after the
other: with other traffic it is that of the queues, and alone it takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import TypedDict

from ..programs.clients import Answer
from ..programs.endings import (
    BETWEEN,
    BOTH,
    CLIENT,
    LATE_NODE,
    NAMED,
    NETWORK,
    SERVER,
    SILENT_NODE,
    client_ending,
    server_ending,
    tells,
)
from ..say.checks import Try
from ..say.expectations import Thresholds, falls_short, less_is_better
from ..say.figures import Figure
from ..talk.steps import Step
from ..talk.time_left import ENDLESS, Time
from .narrowing import End, Pair, Rails, blames, further_pairs, outliers, ring, rounds, wider
from .tasks import Task, tasks_of
from .tools import KINDS

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
    twice. Each step is one round (tools.py).
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
    blamed = blames(bad, measured.good(kind))
    doubted = {end for blame in blamed if len(blame.guilty) == len(blame.pair) for end in blame.pair}
    further = [pair for pair in short if pair in measured.further[kind] and not measured.waited_twice(kind, pair)]
    return [pair for pair in further if measured.is_settled(kind, pair) or not doubted.isdisjoint(pair)]


def _steps_of(wanted: Sequence[tuple[str, Pair]]) -> list[Step]:
    """Steps that measure these, one kind after the other, a round in each."""
    return [
        {"kind": kind, "pairs": [(*pair.client, *pair.server) for pair in together]}
        for kind in dict.fromkeys(kind for kind, _ in wanted)
        for together in rounds([pair for other, pair in wanted if other == kind])
    ]


_SLOW_ENDINGS = frozenset({"refused", "dropped", "stuck", "hung", "silent"})


class Measured:
    """Everything that was measured, by kind and pair, each with all its tries."""

    def __init__(self, thresholds: Thresholds, rails: Rails) -> None:
        """``thresholds`` by figure."""
        self._thresholds = thresholds
        self.rails = rails
        self.tries: dict[str, dict[Pair, list[PairTry]]] = {kind: {} for kind in KINDS}
        self.further: dict[str, set[Pair]] = {kind: set() for kind in KINDS}
        self.side_by_side: dict[str, dict[Pair, dict[str, float]]] = {kind: {} for kind in KINDS}
        """By kind and pair, the figures that were measured on all rails at once."""
        self.left_out: dict[str, list[Pair]] = {kind: [] for kind in KINDS}
        """The neighbours that were not measured at all, because time was up."""

    def add(self, tasks: Sequence[Task], results: Mapping[str, Sequence[Answer] | None], *, late: bool = False) -> None:
        """Take in the results of a step.

        late: whether a node that has not answered had too little time to. Such a try does not replace an earlier one.
        """
        answers = {(node, answer["task"]): answer for node, of_node in results.items() for answer in of_node or []}
        for number, task in enumerate(tasks):
            client = answers.get((task.pair.client.node, number))
            server = answers.get((task.pair.server.node, number), {})
            answered = results.get(task.pair.server.node) is not None
            pair_try = joined(task, client, server, answered=answered, late=late)
            if task.side_by_side and pair_try["values"]:
                self.side_by_side[task.kind][task.pair] = pair_try["values"]
            earlier = self.tries[task.kind].get(task.pair, [])
            if earlier and is_late(pair_try):
                continue
            self.tries[task.kind][task.pair] = [made for made in earlier if not is_beside_others(made)] + [pair_try]

    def leave_out(self, tasks: Sequence[Task]) -> None:
        """Record that the time was too short for a step."""
        for task in tasks:
            if task.pair not in self.tries[task.kind] and task.pair not in self.further[task.kind]:
                self.left_out[task.kind].append(task.pair)

    def short(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try fell short, or gave nothing."""
        return [pair for pair, tries in self.tries[kind].items() if self._is_short(tries[-1])]

    def good(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try did not fall short."""
        return [pair for pair, tries in self.tries[kind].items() if not self._is_short(tries[-1])]

    def doubtful(self, kind: str) -> list[Pair]:
        """The pairs that fell short, or far below others, only while other rails were measured too."""
        beside = [pair for pair, tries in self.tries[kind].items() if is_beside_others(tries[-1])]
        far = {pair for pairs in self.outliers(kind).values() for pair in pairs} if beside else set()
        return [pair for pair in beside if pair in far or not self._is_usual(self.side_by_side[kind][pair])]

    def leave_doubtful(self) -> None:
        """Drop the figures that fell short only together with other rails and could not be measured alone, because time
        was up. The HCAs of such figures may be sound, so they count as not measured.
        """
        for kind, tries in self.tries.items():
            for pair in {*self.doubtful(kind)}.intersection(self.short(kind)):
                tries[pair] = [{"values": None, "error": TIME_WAS_UP, "side_by_side": True}]

    def named(self, kind: str, pair: Pair) -> str | None:
        """The end that is named for the endings of a pair (endings.NAMED); None if they did not fail."""
        last = self.tries[kind][pair][-1]
        return NAMED[last["client"], last["server"]] if "client" in last else None

    def owners(self, kind: str, pair: Pair) -> tuple[End, ...]:
        """The ends of a pair that are at fault by their own words or endings."""
        ends = {CLIENT: (pair.client,), SERVER: (pair.server,), BOTH: tuple(pair)}
        return ends.get(self.named(kind, pair) or "", ())

    def tells_nothing(self, kind: str, pair: Pair) -> bool:
        """True if nothing is known of a pair, because time was up before an end could answer, or because the figure is
        0.
        """
        last = self.tries[kind][pair][-1]
        return (is_late(last) or last.get("client") == "zero") and self.named(kind, pair) == BETWEEN

    def is_settled(self, kind: str, pair: Pair) -> bool:
        """True if other pairs cannot show more about the fault."""
        return bool(self.owners(kind, pair)) or self.named(kind, pair) == NETWORK

    def waited_twice(self, kind: str, pair: Pair) -> bool:
        """True if each of the last two tries of a pair took all the time that it may take.

        One such try is not enough, whatever the server has said: the port that it could not have may be free by now.
        """
        last = self.tries[kind][pair][-2:]
        return len(last) == 2 and all(made.get("client") in _SLOW_ENDINGS for made in last)

    def outliers(self, kind: str) -> dict[str, list[Pair]]:
        """By figure, the pairs that are far worse than the others but do not fall short."""
        by_figure = {}
        for figure in KINDS[kind].figures:
            last = {pair: self.tries[kind][pair][-1]["values"] for pair in self.good(kind)}
            values = {pair: figures[figure] for pair, figures in last.items() if figures}
            by_figure[figure] = outliers(values, "lower" if less_is_better(figure, self._thresholds) else "higher")
        return by_figure

    def _is_usual(self, values: Mapping[str, float]) -> bool:
        """True if figures have limits, and meet the limits for warnings too."""
        limits = {figure: self._thresholds.get(figure, {}) for figure in values}
        return all(
            (limit.get("warn") or limit.get("fail")) is not None
            and not any(falls_short(values[figure], limit, level) for level in ("warn", "fail"))
            for figure, limit in limits.items()
        )

    def _is_short(self, made: PairTry) -> bool:
        if made["values"] is None:
            return True
        return any(falls_short(value, self._thresholds.get(figure)) for figure, value in made["values"].items())


def rows(measured: Measured) -> list[Figure]:
    """Every figure of every pair, with its tries, for the report."""
    return [
        {
            "figure": figure,
            "node": pair.client.node,
            "device": pair.client.device,
            "rail": measured.rails[pair.client.node][pair.client.device],
            "peer": pair.server.node,
            "peer_device": pair.server.device,
            "value": (tries[-1]["values"] or {}).get(figure),
            "tries": tries_of(tries, figure),
            "neighbours": pair not in measured.further[kind],
            **({"side_by_side": beside[figure]} if beside else {}),
        }
        for kind, tool in KINDS.items()
        for figure in tool.figures
        for pair, tries in measured.tries[kind].items()
        for beside in [measured.side_by_side[kind].get(pair)]
    ]


TIME_WAS_UP = "time was up (validation.timeoutSeconds) before it was measured alone"


class PairTry(TypedDict, total=False):
    """One try of a pair: figures by name, or what its two ends say."""

    values: dict[str, float] | None
    error: str | None
    side_by_side: bool
    """True if all rails were measured at once."""
    client: str
    server: str
    """The endings of the two ends, if figures are absent (endings.py)."""
    told: str
    """The error of the end that says most."""


def joined(task: Task, client: Answer | None, server: Answer, *, answered: bool, late: bool = False) -> PairTry:
    """One try, made of what its two ends have answered. answered: whether the server's node has said anything.

    late: whether a node that has said nothing had too little time to.
    """
    nothing = LATE_NODE if late else SILENT_NODE
    said: Answer = client or {"values": None, "error": nothing}
    error = said["error"]
    if not error:
        return {"values": said["values"], "error": None, "side_by_side": task.side_by_side}
    of_server = server.get("server_error")
    client_ended = client_ending(error, said.get("sockets", ()))
    server_ended = server_ending(of_server, server.get("server_sockets", ()), answered=answered, late=late)
    at_server = of_server or (None if answered else nothing)
    shown = f"{error}; on {task.pair.server.node}: {at_server}" if at_server else error
    return {
        "values": None,
        "error": shown,
        "side_by_side": task.side_by_side,
        "client": client_ended,
        "server": server_ended,
        "told": at_server if at_server and tells(client_ended, server_ended) == SERVER else error,
    }


def is_late(made: PairTry) -> bool:
    """True if time was up before one of the two ends could say anything."""
    return "late" in (made.get("client"), made.get("server"))


def is_beside_others(made: PairTry) -> bool:
    """True if a try gave figures while all rails were measured at once."""
    return made["side_by_side"] and made["values"] is not None


def tries_of(tries: Sequence[PairTry], figure: str) -> list[Try]:
    """The results of a pair's tries for one figure, in their order."""
    return [{"value": (made["values"] or {}).get(figure), "error": made["error"]} for made in tries]
