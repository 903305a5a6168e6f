"""Carries one case through: looks, has `decision` say what comes next, does it, and writes it down."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from aks_infiniband_cli.azure.machine import Machine
from aks_infiniband_cli.bad_machines.evidence.collecting import collect
from aks_infiniband_cli.bad_machines.evidence.reading_job import ask
from aks_infiniband_cli.console import CommandError, note
from aks_infiniband_cli.documents import write_document
from aks_infiniband_cli.machine_by_machine.loop import Progress
from aks_infiniband_cli.machine_by_machine.replace.case import MOST_WORDS, Case, Drain, Farthest
from aks_infiniband_cli.machine_by_machine.replace.decision import Act, Budget, Seen, Step, next_step
from aks_infiniband_cli.machine_by_machine.replace.drain import evict, leaving
from aks_infiniband_cli.machine_by_machine.replace.history import History, now
from aks_infiniband_cli.machine_by_machine.replace.measuring import (
    NEIGHBOURS,
    blamed,
    counted,
    measured,
    missing,
    problems,
    unblamed,
)
from aks_infiniband_cli.machine_by_machine.replace.observing import sight_of, state_of
from aks_infiniband_cli.machine_by_machine.replace.quarantine import how_held, quarantine, release
from aks_infiniband_cli.machine_by_machine.replace.sight import Sight, boot_of
from aks_infiniband_cli.validate.deployed import Object
from aks_infiniband_cli.validate.nodes import name_of
from aks_infiniband_cli.validate.records import set_condition
from aks_infiniband_cli.validate.run import Cluster, Say

_OFTEN_SECONDS: Final = 60
_REST_SECONDS: Final = 30


@dataclass
class Pace:
    """A look lists all pods, so what takes minutes is looked at often, and what takes hours seldom: a job, mostly."""

    _why: str = ""
    _since: float = 0

    def rest(self, why: str, now: float) -> float:
        """Seconds to rest in addition to the usual ones. why: the subject of the wait; now: of a clock, in seconds."""
        if why != self._why:
            self._why, self._since = why, now
        return _REST_SECONDS if now - self._since > _OFTEN_SECONDS else 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Wish:
    """The user's request. folder: for evidence; limit: minutes that a stage may take; namespace: of the validations."""

    drain: Drain
    farthest: Farthest
    budget: Budget
    folder: Path
    limit: float
    namespace: str
    endpoint: str | None = None


@dataclass(kw_only=True)
class Replacing:
    """One command's work on one case."""

    cluster: Cluster
    wish: Wish
    history: History
    machine: Machine
    case: Case
    say: Say
    _serves_since: float | None = None
    _pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self._progress = Progress(self.say)

    def observe(self) -> tuple[Step, tuple[Sight, Seen]]:
        """The pool and the case; a quarantine that another program has removed is restored."""
        self.case.stopped = self.history.current(self.case).stopped
        others = [case for case in self.history.open() if case.id != self.case.id]
        sight = sight_of(self.cluster.client, self.wish.namespace, self.case.pool)
        self._hold(sight)
        settled = self._settled(sight.node(self.case.subject), sight)
        seen = state_of(self.case, sight, self.machine, others=others, limit=self.wish.limit, settled=settled)
        return next_step(self.case, seen), (sight, seen)

    def wait(self, why: str) -> None:
        """Report the cause, and rest: a look lists all pods."""
        self._progress.report(f"{self.case.subject}: {why}")
        time.sleep(self._pace.rest(why, time.monotonic()))

    def carry_out(self, step: Step, seen: tuple[Sight, Seen]) -> bool:
        """Do what a step says, unless a person has stopped it since the look, which takes a while."""
        if step.act == "stop":
            self._leave(step.why)
            return False
        if not self.history.current(self.case).stopped:
            _ACTS[step.act](self, step, *seen)
        return self.case.stage != "over"

    def _leave(self, why: str) -> None:
        """Say why no more can be done now; once, however often a command tries."""
        last = self.case.lines[-1]
        if (last.step, last.what) != ("Waits", why[:MOST_WORDS]):
            self._write("Waits", why)

    def _settled(self, node: Object | None, sight: Sight) -> float:
        """Minutes for which the node has been Ready, with its drivers, since it started again; as seen here."""
        if node is None or boot_of(node) == self.case.boot or not sight.serves(node):
            self._serves_since = None
            return 0
        self._serves_since = self._serves_since or time.monotonic()
        return (time.monotonic() - self._serves_since) / 60

    def _hold(self, sight: Sight) -> None:
        """Restore the quarantine as the stage has it, if another program has uncordoned the node meanwhile."""
        node, tainted = sight.node(self.case.subject), self.case.stage in _BEFORE_THE_RESTART
        if node is not None and self.case.stage != "quarantine" and how_held(node) != (True, tainted):
            self._cordon(tainted=tainted)

    def _cordon(self, *, tainted: bool) -> None:
        quarantine(self.cluster.client, self.case.subject, self.case.id, tainted=tainted)

    def _write(self, step: str, what: str, *, about: str = "") -> None:
        said = re.sub(r"(?<!^)(?=[A-Z])", " ", step).lower()
        note(f"{about or self.case.subject}: {said}{f': {what}' if what else ''}")
        self.history.write(self.case, step, what, about=about)

    def _enter(self, step: Step, label: str, what: str, *, about: str = "") -> None:
        """Begin the next stage, and write it down in one piece with what led to it."""
        if step.stage is not None:
            self.case.stage, self.case.since, self.case.asked, self.case.accepted = step.stage, now(), "", ""
            self.case.bad, self.case.tries = None, 0
        if step.outcome is not None:
            self.case.outcome, self.case.ended = step.outcome, now()
        self._write(label, what, about=about)

    def _quarantine(self, step: Step, _sight: Sight, _seen: Seen) -> None:
        self._cordon(tainted=True)
        self._enter(step, "Quarantined", step.why)

    def _drain(self, step: Step, sight: Sight, _seen: Seen) -> None:
        kept = evict(self.cluster.client, leaving(sight.pods, self.case.subject))
        names = ", ".join(name_of(pod) for pod in kept)
        self._progress.report(f"{self.case.subject}: {f'disruption budgets keep {names}' if kept else step.why}")

    def _keep_evidence(self, step: Step, sight: Sight, seen: Seen) -> None:
        file = self.wish.folder / f"evidence-{self.case.node}-{self.case.id}.json"
        if not file.exists():  # there is one if the command was killed in between
            write_document(collect(self.cluster.kubeconfig, self.case.node, self.wish.namespace), file)
        self.case.evidence, self.case.boot = file.name, seen.boot
        self._enter(step, "EvidenceKept", file.name)

    def _send(self, request: Callable[[], None], step: str, what: str, *, about: str = "") -> None:
        """Written down before the request to Azure: the command that continues looks first for its result. Its
        acceptance is written down, too: that command must not send it again, even if its result cannot be seen yet.
        """
        if not self.case.asked:
            self.case.asked = now()
            self._write(step, what, about=about)
        request()
        if self.machine.accepted:
            self.case.accepted = now()
            self.history.write(self.case)

    def _restart(self, _step: Step, _sight: Sight, _seen: Seen) -> None:
        self._send(self.machine.restart, "Restarted", "request sent to Azure")

    def _redeploy(self, _step: Step, _sight: Sight, _seen: Seen) -> None:
        self._send(self.machine.redeploy, "Redeployed", "request sent to Azure")

    def _delete(self, _step: Step, sight: Sight, seen: Seen) -> None:
        if not self.case.asked:
            self.case.known, self.case.count = [name_of(node) for node in sight.of_pool()], seen.count
        left = f"if Azure has none left, pool {self.case.pool} keeps {self.case.count - 1}"
        self._send(self.machine.delete, "Deleted", f"request sent to Azure; {left}")

    def _refill(self, _step: Step, _sight: Sight, _seen: Seen) -> None:
        count = self.case.count
        what = f"request sent to Azure for {count} machines"
        self._send(lambda: self.machine.refill(count), "Refilled", what, about=self.case.node)

    def _take_in_hand(self, step: Step, _sight: Sight, _seen: Seen) -> None:
        self.case.new = step.why
        self._cordon(tainted=False)
        self._enter(step, "Arrived", f"in place of {self.case.node}")

    def _measure(self, step: Step, sight: Sight, seen: Seen) -> None:
        name, beside = self.case.subject, seen.idle[:NEIGHBOURS]
        if step.why:
            self._write("GoesOn", f"{step.why}; it is measured as it is")
        self._progress.report(f"{name}: it is measured with {', '.join(beside)}")
        result = measured(self.cluster, sight, name, seen.idle, self.say)
        bad = problems(result.report, name) if result.report else None
        after = sight_of(self.cluster.client, self.wish.namespace, self.case.pool)
        used = bad and (sight.used(name, beside) or after.used(name, beside))
        if bad is None or used:
            self.case.tries += 1
            unnamed = unblamed(result.report) if result.report else ""
            why = used or "; ".join(result.why) or unnamed or "the report says nothing of it"
            return self._write("NotMeasured", why)
        self.case.bad = bad
        others = ", ".join(blamed(result.report, name)) if result.report else ""
        what = "; ".join(bad) or f"as good as {', '.join(beside)}"
        return self._write("Bad" if bad else "Sound", f"{what}; {others} falls short, too" if others else what)

    def _count(self, step: Step, sight: Sight, seen: Seen) -> None:
        """The node lacks resources that pods request, so it cannot be measured: the machine itself says whether devices
        are gone.
        """
        try:
            machine = ask(self.cluster.client, self.case.subject, sight.validation)
            lacking = missing(machine, sight.validation.expected)
            why = f"{step.why}, and {counted(machine, sight.validation.expected)}"
        except CommandError as error:
            lacking, why = [], f"{step.why}, and the machine itself cannot be read: {error}"
        if lacking:
            self.case.bad = lacking
            return self._write("Bad", f"{step.why}; the machine itself has {', '.join(lacking)}")
        return self._end(replace(step, why=why, stage="over", outcome="not decided"), sight, seen)

    def _go_on(self, step: Step, sight: Sight, _seen: Seen) -> None:
        node = sight.node(self.case.subject)
        self.case.boot = boot_of(node) if node else ""
        self._enter(step, {"evidence": "Emptied", "refill": "Gone"}.get(str(step.stage), "GoesOn"), step.why)

    def _let_in(self, step: Step, sight: Sight, _seen: Seen) -> None:
        release(self.cluster.client, self.case.subject)
        if node := sight.node(self.case.subject):
            set_condition(self.cluster.client, node, healthy=True, why=f"replace has measured it: {step.why}")
        self._enter(step, "LetIn", step.why)

    def _end(self, step: Step, _sight: Sight, seen: Seen) -> None:
        if seen.there:
            self._cordon(tainted=True)
        self._enter(step, "Ended", f"{step.why}; it stays in quarantine")


_BEFORE_THE_RESTART: Final = ("empty", "evidence")
"""Stages in which the node is tainted, too."""
_Do = Callable[[Replacing, Step, Sight, Seen], None]
_ACTS: Final[Mapping[Act, _Do]] = {
    "quarantine": Replacing._quarantine,
    "drain": Replacing._drain,
    "keep evidence": Replacing._keep_evidence,
    "restart": Replacing._restart,
    "redeploy": Replacing._redeploy,
    "delete": Replacing._delete,
    "refill": Replacing._refill,
    "take in hand": Replacing._take_in_hand,
    "measure": Replacing._measure,
    "count": Replacing._count,
    "go on": Replacing._go_on,
    "let in": Replacing._let_in,
    "end": Replacing._end,
}
