"""The exchange between the pods of a run: their identities, the next step, and their results, in ConfigMaps.

The exchange needs no name resolution and no open port: names of pods that have just started are known late
(Azure/aks-rdma-infiniband issue 115). Index 0 writes the plan, every pod its own entry.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import repeat

from .boards import Board
from .steps import Carry, Entry, Plan, Results, Step
from .waiting import pauses

END: Step = {"end": True}
_RESTARTS = 3
"""The limit of repetitions of a step because a pod of the run was replaced meanwhile."""


def follow(board: Board, me: Entry, carry: Carry, *, poll_seconds: float, timeout_seconds: float) -> bool:
    """Follow the plans of index 0. Returns True after the last plan, False if time is up."""
    give_up = time.monotonic() + timeout_seconds
    board.enter(me)
    wait: Iterator[float] = repeat(poll_seconds)
    while time.monotonic() < give_up:
        plan = board.planned()
        if plan is not None and "end" in plan["step"]:
            return True  # only those that took part: if the facts forbid a measurement, none did
        if plan is None or plan["id"] == me.get("done") or not _takes_part(me, plan):
            time.sleep(next(wait))
            continue
        results = carry(plan["step"], plan["members"])
        me = {**me, "done": plan["id"], "results": results}
        board.enter(me)
        wait = pauses(poll_seconds)
    return False


def _takes_part(me: Entry, plan: Plan) -> bool:
    member = plan["members"].get(me["node"])
    return member is not None and member["pod"] == me["pod"]


class Lead:
    """The pod of index 0, which has the others do one step after another."""

    def __init__(
        self, board: Board, me: Entry, carry: Carry, *, node_count: int, poll_seconds: float, timeout_seconds: float
    ) -> None:
        """``timeout_seconds`` is for all steps together, from now on."""
        self._board, self._me, self._carry, self._node_count = board, me, carry, node_count
        self._poll_seconds = poll_seconds
        self._give_up = time.monotonic() + timeout_seconds
        self._count = 0
        self.members: dict[str, Entry] = {}
        self.replaced: Counter[str] = Counter()
        """The number of times that a node's pod was replaced in the middle of the last step."""
        board.enter(me)

    @property
    def seconds_left(self) -> float:
        """Time in which steps can still be made."""
        return self._give_up - time.monotonic()

    @property
    def time_is_up(self) -> bool:
        """True if no further step can be made."""
        return self.seconds_left <= 0

    def extend(self, seconds: float) -> None:
        """Leave at least this time for what follows."""
        self._give_up = max(self._give_up, time.monotonic() + seconds)

    def assemble(self) -> bool:
        """Wait until every pod of the run has an entry; whether they all have."""
        while not self.time_is_up:
            entries = self._board.entries()
            if len(entries) >= self._node_count:
                self.members = _members(entries)
                return True
            time.sleep(self._poll_seconds)
        return False

    def step(self, step: Step) -> dict[str, Results]:
        """Let all members do a step; returns the results of the nodes that have answered in time.

        If a pod is replaced meanwhile, the step begins again with the new one. After the last repetition the run
        continues without it.
        """
        self.replaced.clear()
        results: dict[str, Results] = {}
        for restart in range(_RESTARTS):
            if self.time_is_up:
                break
            plan = self._next(step)
            mine = self._carry(step, self.members)
            self._me = {**self._me, "done": plan["id"], "results": None}
            self._board.enter(self._me)
            answers, replaced = self._await(plan, without_replaced=restart == _RESTARTS - 1)
            results = {self._me["node"]: mine, **answers}
            self.replaced.update(replaced)
            if not replaced:
                break
        return results

    def end(self) -> None:
        """Let all members go."""
        self._next(END)

    def _next(self, step: Step) -> Plan:
        self._count += 1
        plan: Plan = {"id": f"{self._me['pod']}-{self._count}", "members": self.members, "step": step}
        self._board.plan(plan)
        return plan

    def _await(self, plan: Plan, *, without_replaced: bool) -> tuple[dict[str, Results], set[str]]:
        """The answers of the others, and the nodes whose pods have been replaced.

        A pod that is replaced ends the wait; with without_replaced it only ends the wait for itself.
        """
        others, wait = self.members.keys() - {self._me["node"]}, pauses(self._poll_seconds)
        nodes = {member["rank"]: node for node, member in self.members.items()}
        pods = {member["rank"]: member["pod"] for member in self.members.values()}
        while True:
            entries = self._board.entries()
            current = {
                rank: entry for rank, entry in entries.items() if rank in pods
            }  # a pod that comes late is not a member
            replaced = {nodes[rank] for rank, entry in current.items() if entry["pod"] != pods[rank]}
            answers = {entry["node"]: entry["results"] for entry in entries.values() if entry.get("done") == plan["id"]}
            answers.pop(self._me["node"], None)
            all_in = set(answers) >= others - replaced
            if (replaced and not without_replaced) or all_in or self.time_is_up:
                if replaced:
                    self.members = _members(current)
                return answers, replaced
            time.sleep(next(wait))


def _members(entries: Mapping[int, Entry]) -> dict[str, Entry]:
    """The entries by node, in the order of their indices, without what only index 0 reads."""
    members = {entry["node"]: entry.copy() for _, entry in sorted(entries.items())}
    for member in members.values():
        for name in ("results", "done", "run"):
            member.pop(name, None)  # type: ignore[misc]
    return members
