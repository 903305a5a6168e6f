"""The RDMA measurement of a pool: a ring, what falls short again, and then whose fault it is.

Every node is client and server at the same time, so the whole pool takes as long as one pair. Bandwidth is measured on
all rails at once, since HCAs of different rails share no link. They do share PCIe switches and the host's memory, so
what is less than to be expected then is measured alone, and that counts. Latency is measured on one rail after the
other: beside other traffic it is that of the queues, and alone it takes a fraction of a second.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from .checks import Try
from .expectations import Thresholds, falls_short, less_is_better
from .narrowing import End, Pair, Rails, further_pairs, outliers, rounds
from .perftest import KINDS, Task, tasks_of
from .process import Answer
from .rendezvous import Step
from .report import Row

GROUPS = (("read-latency", "ping-pong"), ("write-bandwidth", "read-bandwidth"))
"""Kinds that are measured in one step, one kind after the other."""

DoStep = Callable[[Step], Mapping[str, Sequence[Answer] | None]]
"""Has every node do its part; returns the results by node, of those that have answered."""

_SILENT = "the node did not answer in time"
TIME_WAS_UP = "time was up (validation.timeoutSeconds) before it was measured alone"
_PASSES = 2
"""Of measuring alone: when some have been, another can be far from them."""


class PairTry(TypedDict):
    """One try of a pair: figures by name, or an error and whose it is."""

    values: dict[str, float] | None
    error: str | None
    at: str | None
    """client or server, where the error tells."""
    side_by_side: bool
    """Whether all rails were measured at once."""


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
            found = _joined(client, server.get("server_error"), task.pair.server.node, side_by_side=task.side_by_side)
            if task.side_by_side and found["values"]:
                self.side_by_side[task.kind][task.pair] = found["values"]
            earlier = self.tries[task.kind].get(task.pair, [])
            self.tries[task.kind][task.pair] = [made for made in earlier if not _is_beside_others(made)] + [found]

    def short(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try fell short, or gave nothing."""
        return [pair for pair, tries in self.tries[kind].items() if self._is_short(tries[-1])]

    def good(self, kind: str) -> list[Pair]:
        """The pairs of a kind whose last try did not fall short."""
        return [pair for pair, tries in self.tries[kind].items() if not self._is_short(tries[-1])]

    def doubtful(self, kind: str) -> list[Pair]:
        """The pairs that have shown less than usual, or far less than others, and only beside other rails."""
        beside = [pair for pair, tries in self.tries[kind].items() if _is_beside_others(tries[-1])]
        far = {pair for pairs in self.outliers(kind).values() for pair in pairs} if beside else set()
        return [pair for pair in beside if pair in far or not self._is_usual(self.side_by_side[kind][pair])]

    def leave_doubtful(self) -> None:
        """What fell short beside other rails only, because time was up, has not been measured: it may be sound."""
        for kind, tries in self.tries.items():
            for pair in {*self.doubtful(kind)}.intersection(self.short(kind)):
                tries[pair] = [{"values": None, "error": TIME_WAS_UP, "at": None, "side_by_side": True}]

    def owner(self, kind: str, pair: Pair) -> End | None:
        """The end of a pair whose own tool says that it is at fault."""
        at = self.tries[kind][pair][-1]["at"]
        return None if at is None else pair.client if at == "client" else pair.server

    def hung_twice(self, kind: str, pair: Pair) -> bool:
        """Whether a tool was killed at its limit in both of the last two tries of a pair."""
        last = self.tries[kind][pair][-2:]
        return len(last) == 2 and all("was killed" in (made["error"] or "") for made in last)

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
    time_is_up: Callable[[], bool] = lambda: False,
    groups: Sequence[Sequence[str]] = GROUPS,
) -> Measured:
    """Measure every HCA with its two neighbours, and what falls short until it does not, ``tries`` times at most.

    The nodes are those of ``rails``, in the order of the ring.
    What other rails may have slowed down is measured alone, and that counts. Then, where nothing tells yet which end of
    a pair is at fault, it is measured with other ends. Outliers are narrowed down likewise.
    What a tool was killed at, since it hung, is tried once more and not twice: each time takes as long as the limit.
    """
    measured = Measured(thresholds, rails)

    def do(step: Step) -> None:
        if not time_is_up():
            measured.add(tasks_of(step, list(rails), rails), do_step(step))

    def do_alone(wanted: list[tuple[str, Pair]]) -> None:
        if wanted:
            do(_step(wanted))

    for kinds in groups:
        do(_first_step(kinds, rails))
    for kinds in groups:
        for _ in range(_PASSES):
            do_alone([(kind, pair) for kind in kinds for pair in measured.doubtful(kind)])
        for _ in range(tries - 1):
            short = [(kind, pair) for kind in kinds for pair in measured.short(kind)]
            do_alone([(kind, pair) for kind, pair in short if not measured.hung_twice(kind, pair)])
        further = [(kind, pair) for kind in kinds for pair in _telling(measured, kind)]
        for kind, pair in further:
            measured.further[kind].add(pair)
        do_alone(further)
    measured.leave_doubtful()
    return measured


def _first_step(kinds: Sequence[str], rails: Rails) -> Step:
    """All neighbours: all rails at once where there are several and the tools can, else one after the other."""
    several = len({rail for of_node in rails.values() for rail in of_node.values()}) > 1
    step: Step = {"ring": list(kinds)}
    if several and all(KINDS[kind].side_by_side for kind in kinds):
        step["side_by_side"] = True
    return step


def _telling(measured: Measured, kind: str) -> list[Pair]:
    """The pairs that would tell who is at fault for what falls short, and for the outliers."""
    far = {pair for pairs in measured.outliers(kind).values() for pair in pairs}
    bad = [*(pair for pair in measured.short(kind) if measured.owner(kind, pair) is None), *sorted(far)]
    good = [pair for pair in measured.good(kind) if pair not in far]
    return further_pairs(bad, good, measured.rails) if bad else []


def _step(wanted: Sequence[tuple[str, Pair]]) -> Step:
    """A step that measures these, one kind after the other, in rounds."""
    pairs: list[list[str | int]] = []
    number = 0
    for kind in dict.fromkeys(kind for kind, _ in wanted):
        for together in rounds([pair for other, pair in wanted if other == kind]):
            pairs += [[kind, *pair.client, *pair.server, number] for pair in together]
            number += 1
    return {"pairs": pairs}


_OWN = re.compile(
    r"could not be started|not found|Unable to find the Infiniband|No IB devices|Couldn't (?:register|allocate) MR"
    r"|Couldn't create|Port number \d+ state|Couldn't set the link layer|Couldn't listen to port|was killed$"
)
"""What a tool says of its own side alone; one that is killed without having said a word hung by itself."""


def _joined(client: Answer | None, server_error: str | None, server: str, *, side_by_side: bool) -> PairTry:
    if client is None:
        return {"values": None, "error": _SILENT, "at": None, "side_by_side": side_by_side}
    error = client["error"]
    if not error:
        return {"values": client["values"], "error": None, "at": None, "side_by_side": side_by_side}
    at = "client" if _OWN.search(error) else None
    if server_error:
        at = "server" if _OWN.search(server_error) else at
        error = f"{error}; on {server}: {server_error}"
    return {"values": None, "error": error, "at": at, "side_by_side": side_by_side}


def _is_beside_others(made: PairTry) -> bool:
    """Whether a try gave figures while all rails were measured at once."""
    return made["side_by_side"] and made["values"] is not None


def tries_of(tries: Sequence[PairTry], figure: str) -> list[Try]:
    """What the tries of a pair gave for one figure."""
    return [{"value": (made["values"] or {}).get(figure), "error": made["error"]} for made in tries]


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
