"""The kinds of cases, and the outcome of a case of each.

A case has what differs from the usual request for a cluster (`cluster`) and for a pool of two H100 (`pool`), from the
usual subscription (`subscription`), and later changes (`then`), each of a cluster, of a pool or of machines. The
outcome is Azure's refusal of the last request, or what differs from the usual pool and its machines.
"""

import json
import re
import tempfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

from rehearsal.azure.node_images import newest_release
from rehearsal.azure.node_parts import MACHINE_ANNOTATION
from rehearsal.azure.wire import Properties
from tests.cases import GONE, Case, patched
from tests.simulator.unit.azure.asking import SUBSCRIPTION, Azure, RefusedError, cluster_inputs, pool_inputs
from tests.simulator.unit.azure.pools import CLUSTER, POOL, machines

_USUAL: Final[Case] = {"cluster": {}, "pool": {}}
_MADE_UP: Final = (
    (re.compile(r"(rg|aks-?)[0-9a-f]{8}(?![0-9a-f])"), r"\1"),
    (re.compile(r"-\d{8}-vmss"), "-vmss"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"), "TIME"),
    (re.compile(r"(?<![0-9a-f-])[0-9a-f]{24,32}(?![0-9a-f])"), "ID"),
    (re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "UUID"),
    (re.compile(re.escape(newest_release(datetime.now(tz=UTC).date()))), "NEWEST"),
)
"""The parts of names and values that Azure makes up, or that the day decides."""


class Conversation:
    """A subscription, and what was made in it."""

    def __init__(self, subscription: Mapping[str, Any]) -> None:
        given = SUBSCRIPTION.model_validate(patched(SUBSCRIPTION.model_dump(by_alias=True), dict(subscription)))
        self.azure = Azure(Path(tempfile.mkdtemp()), given)
        self.group = self.azure.create("resources:ResourceGroup", "rg")
        self.made: dict[str, Properties] = {}

    def ask(self, kind: str, change: Any) -> None:
        """Request a cluster or a pool, or another state of it; `gone` deletes it."""
        type_, name = (CLUSTER, "aks") if kind == "cluster" else (POOL, kind)
        if change == GONE:
            self.azure.delete(type_, name, self.made.pop(kind))
        elif kind in self.made:
            news = {key: None if value == GONE else value for key, value in change.items()}
            self.made[kind] = self.azure.update(type_, name, self.made[kind], **news)
        else:
            usual = cluster_inputs(self.group) if kind == "cluster" else pool_inputs(self.made["cluster"])
            self.made[kind] = self.azure.create(type_, name, **patched(usual, change))

    def requested(self, case: Case) -> str | None:
        """Make the requests of a case. Returns the last one's refusal, if it is one."""
        requests = [("cluster", case.get("cluster", {}))]
        requests += [(kind, case[kind]) for kind in case if kind in ("pool", "other")]
        requests += [request for step in case.get("then", ()) for request in step.items()]
        for place, (kind, change) in enumerate(requests, 1):
            try:
                self.ask(kind, change)
            except RefusedError as error:
                if place == len(requests):
                    return refusal(str(error))
                raise
        return None


def outcome_of_requests(case: Case) -> dict[str, Any]:
    """The refusal of a case's last request, or what is other than usual."""
    conversation = Conversation(case.get("subscription", {}))
    if refused := conversation.requested(case):
        return {"refused": refused}
    shown = state_of(conversation)
    outcome: dict[str, Any] = differing(shown, usual() if "pool" in case else usual_cluster())
    return outcome


def outcome_of_differences(case: Case) -> dict[str, Any]:
    """The properties whose change replaces a cluster or a pool, and whether the old one goes first."""
    conversation = Conversation({})
    conversation.requested(_USUAL)
    ((kind, change),) = case.items()
    type_, name = (CLUSTER, "aks") if kind == "cluster" else (POOL, kind)
    answer = conversation.azure.diff(type_, name, conversation.made[kind], **change)
    return {"replaces": list(answer.replaces), "deleted_first": answer.deleteBeforeReplace}


@cache
def usual() -> dict[str, Any]:
    """The usual cluster with its pool."""
    conversation = Conversation({})
    assert conversation.requested(_USUAL) is None
    return state_of(conversation)


@cache
def usual_cluster() -> dict[str, Any]:
    """The usual cluster without a pool."""
    conversation = Conversation({})
    assert conversation.requested({}) is None
    return state_of(conversation)


def state_of(conversation: Conversation) -> dict[str, Any]:
    """Azure's outputs of a cluster and its pool, and the first machine of the pool, without made-up parts."""
    azure, made = conversation.azure, conversation.made
    shown: dict[str, Any] = {
        kind: {key: value for key, value in outputs.items() if key != "__inputs"} for kind, outputs in made.items()
    }
    if nodes := machines(azure, "pool"):
        shown["machine"] = {**nodes[0], "machine": json.loads(nodes[0]["metadata"]["annotations"][MACHINE_ANNOTATION])}
        del shown["machine"]["metadata"]["annotations"]
    shown["nodes"] = [name.split("-", 1)[1] for name in azure.machines.nodes]
    shown["drained"] = [name.split("-", 1)[1] for name in azure.machines.drained]
    state: dict[str, Any] = without_made_up(shown)
    return state


def without_made_up(value: Any) -> Any:
    """A value without the parts that differ from run to run."""
    text = json.dumps(value, sort_keys=True)
    for pattern, instead in _MADE_UP:
        text = pattern.sub(instead, text)
    return json.loads(text)


def differing(value: Any, from_: Any) -> Any:
    """The change, as `patched` takes it, from one value to another."""
    if not isinstance(value, dict) or not isinstance(from_, dict):
        return value
    changes = {key: differing(item, from_.get(key)) for key, item in value.items() if item != from_.get(key)}
    return changes | {key: GONE for key in from_ if key not in value}


def refusal(text: str) -> str:
    """Code and message of Azure's error; all of another one."""
    code = re.search(r'Code="(\w+)"', text)
    message = re.search(r'"message": "(.*?)", "(?:subcode|target)"', text) or re.search(r'Message="(.*)"', text)
    told = f"{code[1]}: {message[1]}" if code and message else text
    return str(without_made_up(told))


FAMILIES: Final[Mapping[str, Callable[[Case], Any]]] = {
    "requests": outcome_of_requests,
    "differences": outcome_of_differences,
}
"""By the first word of a file's name, what gives the outcome of a case."""
