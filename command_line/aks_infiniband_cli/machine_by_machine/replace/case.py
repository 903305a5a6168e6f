"""A machine that is being replaced, as it stands in the cluster: what was done, and what is known of it."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Final, Literal

from aks_infiniband.handwritten import shortened
from aks_infiniband.handwritten.form import told
from pydantic import TypeAdapter, ValidationError

Stage = Literal["quarantine", "empty", "evidence", "restart", "redeploy", "delete", "refill", "arrive", "over"]
"""The work that is under way. After restart, redeploy and arrive the machine is measured in the same stage."""
STAGES: Final[tuple[Stage, ...]] = (
    "quarantine", "empty", "evidence", "restart", "redeploy", "delete", "refill", "arrive", "over",
)  # fmt: skip
_MOST_LINES: Final = 100
MOST_WORDS: Final = 600
"""Lines of a case's history, and characters of a line of it: the size of a ConfigMap is bounded."""
Outcome = Literal["cured", "replaced", "still bad", "not decided", "let in"]
Drain = Literal["wait", "evict"]
Farthest = Literal["restart", "redeploy", "delete"]
"""The last thing that is done to a machine."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One step, in the history: when, which, and in words."""

    at: str
    step: str
    what: str


@dataclass(kw_only=True, slots=True)
class Case:
    """One machine.

    node: its name then; pool: the stack's name; resource: of the machine in Azure; agent_pool: AKS's name; count: the
    number of machines that it has to have, 0 if Azure has not said. begun: ISO 8601. why: the reason to take it out.
    drain, farthest: the user's choice.
    """

    id: str
    node: str
    pool: str
    resource: str
    agent_pool: str
    begun: str
    why: str
    count: int = 0
    drain: Drain = "wait"
    farthest: Farthest = "delete"
    stage: Stage = "quarantine"
    since: str = ""
    """When the stage began."""
    boot: str = ""
    """The machine's boot ID when the stage began: another one shows that it has started again."""
    asked: str = ""
    """The time of the request to Azure in this stage; empty without one."""
    accepted: str = ""
    """The time at which Azure accepted that, or may have: the request is not sent a second time, whether or not its
    status can be read.
    """
    known: list[str] = field(default_factory=list)
    """The pool's nodes when the machine was deleted: another one is its successor."""
    new: str = ""
    """The successor's name."""
    tries: int = 0
    """The number of measurements of this stage without a result."""
    bad: list[str] | None = None
    """The findings of this stage's measurement: none is a good machine; None: it was not made."""
    evidence: str = ""
    """The file's name."""
    stopped: bool = False
    runner: str = ""
    """The command that works on it: the last one that has begun to. A command that finds another name here ends."""
    outcome: Outcome | None = None
    ended: str = ""
    lines: list[Line] = field(default_factory=list)

    @property
    def subject(self) -> str:
        """The node that it is about now."""
        return self.new or self.node

    @property
    def is_given_up(self) -> bool:
        """True if its pool is short of a machine because of it, or is about to be."""
        return self.stage == "refill" or (self.stage == "delete" and bool(self.asked))

    def told(self) -> str:
        """The outcome, in a line."""
        outcome = self.outcome or f"under way, at the stage {self.stage}"
        by = f" by {self.new}" if self.outcome == "replaced" else ""
        return f"{self.node} of pool {self.pool}: {outcome}{by}"


def document_of(case: Case) -> dict[str, Any]:
    """For a ConfigMap. Parts that a case that is over does not need, and long words, are left out."""
    if case.stage == "over":
        case = replace(case, known=[], bad=None)
    lines = [replace(line, what=line.what[:MOST_WORDS]) for line in case.lines[-_MOST_LINES:]]
    return asdict(replace(case, lines=lines))


def shown(case: Case) -> dict[str, Any]:
    """The form for programs: the actions, and not the command's own notes."""
    kept = asdict(case)
    return {key: kept[key] for key in ("node", "new", "pool", "stage", "outcome", "begun", "ended", "lines")}


def case_of(document: Any) -> Case:
    """The case that `document_of` gave. Raises ValueError, in words, for anything else: a person may have written it by
    hand.
    """
    try:
        case = _FORM.validate_json(json.dumps(document), strict=True)
    except ValidationError as error:
        (path, reason), *_ = told(error)
        raise ValueError(f"{'.'.join(map(str, path))} {reason}") from None
    for name in _MOMENTS:
        _require_moment(name, getattr(case, name))
    return case


_FORM: Final = TypeAdapter(Case)
_MOMENTS: Final = ("begun", "since", "asked", "accepted", "ended")


def _require_moment(name: str, text: str) -> None:
    if name != "begun" and not text:
        return
    try:
        zoned = datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        zoned = False
    if not zoned:
        raise ValueError(f"{name} is {shortened(text)}; must be a moment in ISO 8601, with its zone")
