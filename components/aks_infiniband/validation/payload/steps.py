"""What the pods of a run tell each other: who they are, and what is to be done next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from .collective_documents import CollectivePlan

Results = Any
"""What a pod did in a step, as JSON-able data; whoever asks for the step knows its form."""


class Answer(TypedDict, total=False):
    """What a client measured: figures by name, or what went wrong; from a server of a task only server_error."""

    task: int
    """Its number in the step."""
    values: dict[str, float] | None
    error: str | None
    server_error: str | None


class Entry(TypedDict, total=False):
    """What a pod says of itself."""

    run: str
    rank: int
    node: str
    pod: str
    """Its uid."""
    address: str
    port: int
    devices: list[str]
    networks: dict[str, str]
    replaced: int
    done: str
    """The id of the last step that it has carried out."""
    results: Results
    """Of that step."""


Members = Mapping[str, Entry]
"""The pods of a run by node, in the order of their indices."""


class Step(TypedDict, total=False):
    """What is to be done next: ring, pairs, serve, sockperf, collective, counters or end, with what it needs."""

    ring: list[str]
    """The kinds (perftest.KINDS) to measure between neighbours."""
    pairs: list[list[str | int]]
    """Single measurements: kind, node, device, peer, its device, round."""
    serve: list[str]
    """The interfaces on which sockperf is to listen."""
    sockperf: str
    interface: str
    nodes: list[str]
    collective: str
    """A tuning of the all-reduce."""
    plan: CollectivePlan
    port: int
    counters: bool
    end: bool


class Plan(TypedDict, total=False):
    """What index 0 says: a step, its id and who takes part in it."""

    run: str
    id: str
    members: dict[str, Entry]
    step: Step
