"""The machine that is replaced, the conditions, and the command that continues a case."""

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from lightkube.resources.core_v1 import Node

from aks_infiniband_cli.azure.machine import Machine
from aks_infiniband_cli.machine_by_machine.loop import carry_through
from aks_infiniband_cli.machine_by_machine.replace.case import Case
from aks_infiniband_cli.machine_by_machine.replace.decision import Seen, refusal
from aks_infiniband_cli.machine_by_machine.replace.history import History, Read, now
from aks_infiniband_cli.machine_by_machine.replace.observing import sight_of, state_of
from aks_infiniband_cli.machine_by_machine.replace.quarantine import is_in_quarantine, release, unknown_cases
from aks_infiniband_cli.machine_by_machine.replace.replacing import Replacing, Wish
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight, agent_pool_of, resource_of, unhealthy
from aks_infiniband_cli.validate.nodes import node_called, nodes_of, place_of
from aks_infiniband_cli.validate.run import Cluster, Say
from aks_infiniband_cli.validate.validating import read_cluster

_WATCH_SECONDS: Final = 30


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """A machine that would be taken out, and the reason why it is not, if it is not."""

    case: Case
    seen: Seen
    refused: str
    begun_today: int


@dataclass(kw_only=True)
class Beginning:
    """One command's work on a cluster. Methods raise CommandError and NO_ANSWER."""

    cluster: Cluster
    wish: Wish
    say: Say

    def __post_init__(self) -> None:
        self.history = History(self.cluster.client, self.wish.namespace)

    def plan(self, node: str, why: str) -> Plan:
        """The plan for a node; a case that has begun already continues."""
        read = self.history.read()
        open_ = [case for case in read.cases if case.stage != "over"]
        case = next((each for each in open_ if node in (each.node, each.new)), None)
        begun = case or self._case(node, why)  # the node of a case that is there may be gone by now
        sight = sight_of(self.cluster.client, self.wish.namespace, begun.pool)
        others = [each for each in open_ if each.id != begun.id]
        seen = state_of(begun, sight, self._machine(begun), others=others, limit=self.wish.limit)
        today = _begun_today(read.cases, begun)
        refused = seen.differs
        if case is None:
            own = [each for each in others if each.pool == begun.pool]
            refused = _lost(read, sight) or refusal(begun, own, seen, self.wish.budget, today)
        return Plan(case=begun, seen=seen, refused=refused, begun_today=today)

    def carry_on(self, case: Case) -> Case:
        """Begin a case or continue it, until it is over, is stopped, or waits for capacity that Azure lacks."""
        machine = self._machine(case)
        self.history.take_over(case)
        work = Replacing(
            cluster=self.cluster, wish=self.wish, history=self.history, machine=machine, case=case, say=self.say
        )
        carry_through(work)
        return work.case

    def watch(self) -> list[Case]:
        """Take out the nodes that the light check calls unhealthy, one by one, until a person stops it; the finished
        cases.
        """
        started, done = now(), list[Case]()
        while not self.history.was_stopped(started):
            begun = next((case for case in self.history.open() if not case.stopped), None) or self._next()
            if begun is not None:
                done = [*(case for case in done if case.id != begun.id), self.carry_on(begun)]
            self.say("Watching the light check's conditions")
            time.sleep(_WATCH_SECONDS if begun is None or begun.stage != "over" else 1)
        return done

    def _next(self) -> Case | None:
        """The next unhealthy node that may be taken out."""
        validations, nodes, _ = read_cluster(self.cluster.client, self.wish.namespace)
        cases = self.history.cases()
        since = {case.subject: case.ended for case in cases if case.ended}
        for validation in validations.values():
            free = [node for node in nodes_of(nodes, validation) if not is_in_quarantine(node)]
            for node, why in unhealthy(free, since).items():
                plan = self.plan(node, why)
                if not plan.refused:
                    return plan.case
                self.say(f"{node} is unhealthy, and waits: {plan.refused}")
        return None

    def stop(self) -> list[Case]:
        """Stop everything that is under way."""
        return self.history.stop()

    def let_in(self, node: str) -> str | None:
        """Admit a node that a case has taken out, whatever was measured; its name, None if no case has."""
        nodes = [each.to_dict() for each in self.cluster.client.list(Node)]
        if not is_in_quarantine(node_called(nodes, node)):
            return None
        for case in [case for case in self.history.open() if case.subject == node]:
            self.history.take_over(case)
            case.stage, case.outcome, case.ended = "over", "let in", now()
            self.history.write(case, "LetIn", "a person released it, regardless of the measurement")
        release(self.cluster.client, node)
        return node

    def _case(self, node: str, why: str) -> Case:
        validations, nodes, _ = read_cluster(self.cluster.client, self.wish.namespace)
        pool, _, there = place_of(validations, nodes, node)
        return Case(
            id=secrets.token_hex(4),
            node=node,
            pool=pool,
            resource=resource_of(there),
            agent_pool=agent_pool_of(there),
            begun=now(),
            why=why,
            drain=self.wish.drain,
            farthest=self.wish.farthest,
        )

    def _machine(self, case: Case) -> Machine:
        return Machine(case.resource, case.agent_pool, self.wish.endpoint)


def _lost(read: Read, sight: Sight) -> str:
    """The reason why none of a pool is taken out while another command may have been at work on it; empty if
    none was.
    """
    held = unknown_cases(sight.of_pool(), read.cases) if read.lost or read.unread else []
    if not held:
        return ""
    at = f"ConfigMap {read.lost}" if read.lost else "cannot be read"
    return (
        f"{', '.join(held)} of its pool was taken out by a case that the history has lost ({at}). "
        "Check that machine, then release it with --release"
    )


def _begun_today(cases: Sequence[Case], case: Case) -> int:
    """The number of the pool's machines that were taken out in the last 24 hours."""
    since = datetime.now(UTC) - timedelta(days=1)
    others = [each for each in cases if each.pool == case.pool and each.id != case.id]
    return sum(datetime.fromisoformat(each.begun) > since for each in others)
