"""Everything that the RDMA tools have measured, and what is known of each pair by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..programs.clients import Answer
from ..programs.endings import BETWEEN, BOTH, CLIENT, NAMED, NETWORK, SERVER
from ..say.expectations import Thresholds, falls_short, less_is_better
from ..say.figures import Figure
from .narrowing import End, Pair, Rails, outliers
from .tasks import Task
from .tool import KINDS
from .tries import TIME_WAS_UP, PairTry, is_beside_others, is_late, joined, tries_of

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
        answers = {(node, answer["task"]): answer for node, given in results.items() for answer in given or []}
        for number, task in enumerate(tasks):
            client = answers.get((task.pair.client.node, number))
            server = answers.get((task.pair.server.node, number), {})
            answered = results.get(task.pair.server.node) is not None
            found = joined(task, client, server, answered=answered, late=late)
            if task.side_by_side and found["values"]:
                self.side_by_side[task.kind][task.pair] = found["values"]
            earlier = self.tries[task.kind].get(task.pair, [])
            if earlier and is_late(found):
                continue
            self.tries[task.kind][task.pair] = [made for made in earlier if not is_beside_others(made)] + [found]

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
        found = {}
        for figure in KINDS[kind].figures:
            last = {pair: self.tries[kind][pair][-1]["values"] for pair in self.good(kind)}
            values = {pair: figures[figure] for pair, figures in last.items() if figures}
            found[figure] = outliers(values, "lower" if less_is_better(figure, self._thresholds) else "higher")
        return found

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
