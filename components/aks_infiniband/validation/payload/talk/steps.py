"""The messages between the pods of a run: their identities, the step of index 0, and its results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from ..say.expectations import CollectivePlan, GpusPlan

Results = Any
"""A pod's result of a step, as JSON-able data. The code that begins the step knows its form."""


class Entry(TypedDict, total=False):
    """A pod's description of itself, and (done, results) of the last step that it has carried out; pod is its uid.

    devices: the PCI address of every InfiniBand device, by its name; inactive: those whose port is not Active.
    """

    run: str
    rank: int
    node: str
    pod: str
    address: str
    port: int
    devices: dict[str, str]
    inactive: list[str]
    networks: dict[str, str]
    replaced: int
    done: str
    results: Results


Members = Mapping[str, Entry]
"""The pods of a run by node, in the order of their indices."""


class Said(TypedDict):
    """A pod's report on its node for the API server (light_check/state.py). checked: seconds since 1970."""

    checked: int
    healthy: bool
    reason: str
    message: str


class Step(TypedDict, total=False):
    """The next step: kind, serve, sockperf, gpus, collective, node_pairs, counters, `tell` or end, with its
    arguments.
    """

    kind: str
    """The kind of an RDMA measurement (rdma/tools.py). The measurement is made on one rail, given by its place, on all
    rails at once, or on single pairs.
    """
    rail: int
    side_by_side: bool
    pairs: list[tuple[str, str, str, str]]
    """Single measurements: node, device, peer, its device."""
    turn: int
    """The number of the step among those of RDMA."""
    seconds: float
    """The time that is left in all."""
    serve: list[str]
    """The interfaces on which sockperf is to listen."""
    sockperf: str
    interface: str
    nodes: list[str]
    gpus: GpusPlan
    collective: str
    """A tuning of the all-reduce."""
    plan: CollectivePlan
    meeting: str
    """The meeting point of the ranks."""
    node_pairs: list[tuple[str, str]]
    """The nodes that are measured two by two."""
    nvlink_domains: list[list[str]]
    """The nodes of each NVLink domain that is measured."""
    meetings: list[str]
    """The meeting points of each pair's or domain's ranks."""
    counters: bool
    tell: dict[str, Said]
    """By node."""
    end: bool


class Plan(TypedDict, total=False):
    """The plan of index 0: a step, its id and who takes part in it."""

    run: str
    id: str
    members: dict[str, Entry]
    step: Step


Carry = Callable[[Step, Members], Results]
"""Carries out a step among members (by node); returns what goes into the pod's entry, as JSON-able data."""
