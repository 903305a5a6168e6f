"""The RDMA measurement of a pool: a ring, what falls short again, and then whose fault it is.

Every node is client and server at the same time, so the whole pool takes as long as one pair. Bandwidth is measured on
all rails at once, since HCAs of different rails share no link. They do share PCIe switches and the host's memory, so
what is less than to be expected then is measured alone, and that counts. Latency is measured on one rail after the
other: beside other traffic it is that of the queues, and alone it takes a fraction of a second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import count

from ..programs.clients import Answer
from ..programs.endings import BOTH, CLIENT, NAMED, NETWORK, SERVER
from ..report.document import Row
from ..say.expectations import Thresholds, falls_short, less_is_better
from ..talk.rendezvous import Step
from .causes import TIME_WAS_UP
from .narrowing import End, Pair, Rails, further_pairs, outliers, ring, rounds
from .rounds import Task, tasks_of
from .tool import KINDS
from .tries import PairTry, is_beside_others, joined, tries_of

GROUPS = (("read-latency", "ping-pong"), ("write-bandwidth", "read-bandwidth"))
"""Kinds that are measured in one step, one kind after the other."""

DoStep = Callable[[Step], Mapping[str, Sequence[Answer] | None]]
"""Has every node do its part; returns the results by node, of those that have answered."""

_SLOW_ENDINGS = frozenset({"refused", "dropped", "stuck", "hung", "silent"})
_PASSES = 2
"""Of measuring alone: when some have been, another can be far from them."""


class Measured:
    """Everything that was measured, by kind and pair, each with all its tries."""

    def __init__(self, thresholds: Thresholds, rails: Rails) -> None:
        """``thresholds`` by figure."""
        self._thresholds = thresholds
        self.rails = rails
        self.tries: dict[str, dict[Pair, list[PairTry]]] = {kind: {} for kind in KINDS}
        self.further: dict[str, set[Pair]] = {kind: set() for kind in KINDS}
        self.side_by_side: dict[str, dict[Pair, dict[str, float]]] = {kind: {} for kind in KINDS}
        """By kind and pair, the figures while all rails were measured at once."""

    def add(self, tasks: Sequence[Task], results: Mapping[str, Sequence[Answer] | None]) -> None:
        """Take in what came of a step."""
        answers = {(node, answer["task"]): answer for node, given in results.items() for answer in given or []}
        for number, task in enumerate(tasks):
            client = answers.get((task.pair.client.node, number))
            server = answers.get((task.pair.server.node, number), {})
            answered = results.get(task.pair.server.node) is not None
            found = joined(task, client, server, answered=answered)
            if task.side_by_side and found["values"]:
                self.side_by_side[task.kind][task.pair] = found["values"]
            earlier = self.tries[task.kind].get(task.pair, [])
            self.tries[task.kind][task.pair] = [made for made in earlier if not is_beside_others(made)] + [found]

    def short(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try fell short, or gave nothing."""
        return [pair for pair, tries in self.tries[kind].items() if self._is_short(tries[-1])]

    def good(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try did not fall short."""
        return [pair for pair, tries in self.tries[kind].items() if not self._is_short(tries[-1])]

    def doubtful(self, kind: str) -> list[Pair]:
        """The pairs that have shown less than usual, or far less than others, and only beside other rails."""
        beside = [pair for pair, tries in self.tries[kind].items() if is_beside_others(tries[-1])]
        far = {pair for pairs in self.outliers(kind).values() for pair in pairs} if beside else set()
        return [pair for pair in beside if pair in far or not self._is_usual(self.side_by_side[kind][pair])]

    def leave_doubtful(self) -> None:
        """What fell short beside other rails only, because time was up, has not been measured: it may be sound."""
        for kind, tries in self.tries.items():
            for pair in {*self.doubtful(kind)}.intersection(self.short(kind)):
                tries[pair] = [{"values": None, "error": TIME_WAS_UP, "side_by_side": True}]

    def named(self, kind: str, pair: Pair) -> str | None:
        """Who is named by how the two ends of a pair have ended (endings.NAMED); None where they did not fail."""
        last = self.tries[kind][pair][-1]
        return NAMED[last["client"], last["server"]] if "client" in last else None

    def owners(self, kind: str, pair: Pair) -> tuple[End, ...]:
        """The ends of a pair that are at fault by what they themselves have shown."""
        ends = {CLIENT: (pair.client,), SERVER: (pair.server,), BOTH: tuple(pair)}
        return ends.get(self.named(kind, pair) or "", ())

    def is_settled(self, kind: str, pair: Pair) -> bool:
        """Whether no other pair can tell more of whose fault it is."""
        return bool(self.owners(kind, pair)) or self.named(kind, pair) == NETWORK

    def waited_twice(self, kind: str, pair: Pair) -> bool:
        """Whether both of the last two tries of a pair took all of the time that they may take."""
        last = self.tries[kind][pair][-2:]
        return len(last) == 2 and all(made.get("client") in _SLOW_ENDINGS for made in last)

    def outliers(self, kind: str) -> dict[str, list[Pair]]:
        """By figure, the pairs that are far worse than the others without falling short."""
        found = {}
        for figure in KINDS[kind].figures:
            last = {pair: self.tries[kind][pair][-1]["values"] for pair in self.good(kind)}
            values = {pair: figures[figure] for pair, figures in last.items() if figures}
            found[figure] = outliers(values, "lower" if less_is_better(figure, self._thresholds) else "higher")
        return found

    def _is_usual(self, values: Mapping[str, float]) -> bool:
        """Whether figures have limits and meet those for warnings, too."""
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


def measure(
    do_step: DoStep,
    rails: Rails,
    thresholds: Thresholds,
    *,
    tries: int,
    seconds_left: Callable[[], float] = lambda: math.inf,
    groups: Sequence[Sequence[str]] = GROUPS,
) -> Measured:
    """Measure every HCA with its two neighbours, and what falls short until it does not, ``tries`` times at most.

    The nodes are those of ``rails``, in the order of the ring.
    What other rails may have slowed down is measured alone, and that counts. Then, where nothing tells yet which end of
    a pair is at fault, it is measured with other ends. Outliers are narrowed down likewise.
    What takes as long as the limit, since a tool hangs, is tried once more and not twice.
    Each step is one round (rounds.py). ``seconds_left`` is for all of them.
    """
    measured = Measured(thresholds, rails)
    turns = count()

    def do(steps: Sequence[Step]) -> None:
        for step in steps:
            left = seconds_left()
            if left > 0:
                told: Step = {**step, "turn": next(turns), "seconds": left}
                measured.add(tasks_of(step, list(rails), rails), do_step(told))

    def do_alone(wanted: list[tuple[str, Pair]]) -> None:
        do(_steps_of(wanted))

    for kinds in groups:
        do(_first_steps(kinds, rails))
    for kinds in groups:
        for _ in range(_PASSES):
            do_alone([(kind, pair) for kind in kinds for pair in measured.doubtful(kind)])
        for _ in range(tries - 1):
            short = [(kind, pair) for kind in kinds for pair in measured.short(kind)]
            do_alone([(kind, pair) for kind, pair in short if not measured.waited_twice(kind, pair)])
        further = [(kind, pair) for kind in kinds for pair in _telling(measured, kind)]
        for kind, pair in further:
            measured.further[kind].add(pair)
        do_alone(further)
    measured.leave_doubtful()
    return measured


def _first_steps(kinds: Sequence[str], rails: Rails) -> list[Step]:
    """All neighbours: all rails at once where there are several and the tools can, else one after the other."""
    places = range(len(ring(list(rails), rails)))
    several = len({rail for of_node in rails.values() for rail in of_node.values()}) > 1
    if several and all(KINDS[kind].side_by_side for kind in kinds):
        return [{"kind": kind, "side_by_side": True} for kind in kinds if places]
    return [{"kind": kind, "rail": place} for place in places for kind in kinds]


def _telling(measured: Measured, kind: str) -> list[Pair]:
    """The pairs that would tell who is at fault for what falls short, and for the outliers."""
    far = {pair for pairs in measured.outliers(kind).values() for pair in pairs}
    bad = [*(pair for pair in measured.short(kind) if not measured.is_settled(kind, pair)), *sorted(far)]
    good = [pair for pair in measured.good(kind) if pair not in far]
    return further_pairs(bad, good, measured.rails) if bad else []


def _steps_of(wanted: Sequence[tuple[str, Pair]]) -> list[Step]:
    """Steps that measure these, one kind after the other, a round in each."""
    return [
        {"kind": kind, "pairs": [(*pair.client, *pair.server) for pair in together]}
        for kind in dict.fromkeys(kind for kind, _ in wanted)
        for together in rounds([pair for other, pair in wanted if other == kind])
    ]


def rows(measured: Measured) -> list[Row]:
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
