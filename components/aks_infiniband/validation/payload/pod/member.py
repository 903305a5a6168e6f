"""A pod as a member of a run: it looks at its node, introduces itself to the others, and does its part of their
steps.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain, repeat
from typing import NamedTuple

from ..look.gathering import entry_key
from ..look.node import Facts, facts_of
from ..programs.clients import Limits
from ..programs.ports import free_ports
from ..say.expectations import read_expectations
from ..talk.api import api_of
from ..talk.boards import PLAN_ANNOTATION, Board, board_names, board_of
from ..talk.config_maps import compressed, decompressed
from ..talk.rendezvous import Lead
from ..talk.steps import Carry, Entry
from ..talk.waiting import pause_seconds
from .worker import Setting, Worker

STEP_SECONDS = (0.5, 2.0)
"""The longest time between two looks for the next step: in a small pool, and in any pool."""
_SHARE = 12
"""The time for all measurements has room for this number of tools in a row. Each usually takes a few seconds."""
_TOOL_SECONDS = (5.0, 60.0)
_CONNECT_SECONDS = 20.0
"""When one pod has begun a step, every other begins it within this time, because each looks every two seconds or more
often.
"""
_REPLACED = 3
"""If this number of pods started before Multus was on their node, the next pod's lack of networks is a verdict."""


class NotYetError(Exception):
    """The pod cannot do the work, but a new one can."""


class Me(NamedTuple):
    """The run, and this pod's identity in it."""

    run: str
    rank: int
    node: str
    pod: str
    address: str


def who_am_i(environment: Mapping[str, str]) -> Me:
    """Read what the Job controller and the downward API put into the environment. Raises KeyError, ValueError."""
    return Me(
        environment["JOB_UID"],
        int(environment["JOB_COMPLETION_INDEX"]),
        environment["NODE_NAME"],
        environment["POD_UID"],
        environment["POD_IP"],
    )


class Pod:
    """A pod of a run."""

    def __init__(self, arguments: argparse.Namespace, environment: Mapping[str, str]) -> None:
        """Raises KeyError and ValueError for a pod that is not one of such a Job."""
        self.arguments, self.environment = arguments, environment
        self.me: Me = who_am_i(environment)
        self.expected = read_expectations(arguments.expectations, arguments.common)
        self.api = api_of(arguments, environment)
        api, where = self.api, (arguments.namespace, arguments.report)
        own = board_of(arguments.report, self.me.rank)
        self._boards = [own]
        self._merge = partial(api.merge_config_map_data, arguments.namespace, own)
        self.board = Board(
            self.me.run,
            self.read,
            self._merge,
            read_plan=lambda: decompressed(api.annotation(*where, PLAN_ANNOTATION) or ""),
            write_plan=lambda text: api.annotate(*where, PLAN_ANNOTATION, compressed(text)),
        )
        small, longest = STEP_SECONDS
        self.poll_seconds = min(arguments.poll_seconds, pause_seconds(small, self.expected["node_count"]), longest)

    def read(self) -> list[dict[str, str]]:
        """The data of each ConfigMap that this pod looks at."""
        return [self.api.config_map_data(self.arguments.namespace, board) for board in self._boards]

    def read_all(self) -> None:
        """From now on look at the ConfigMaps of all pods (boards.py), as the leading pod does."""
        self._boards = board_names(self.arguments.report, self.expected["node_count"])

    def leave(self, changes: Mapping[str, str | None], stale: Iterable[Iterable[str]]) -> None:
        """Change keys of the first ConfigMap, and remove the stale keys of each."""
        for board, keys, others in zip(self._boards, stale, chain([changes], repeat({}))):
            if every := {**others, **dict.fromkeys(keys)}:
                self.api.merge_config_map_data(self.arguments.namespace, board, every)

    @property
    def limits(self) -> Limits:
        """Limits of the wait for a server, and of a tool."""
        seconds = min(max(self.arguments.measure_seconds / _SHARE, _TOOL_SECONDS[0]), _TOOL_SECONDS[1])
        return Limits(connect_seconds=min(seconds, _CONNECT_SECONDS), tool_seconds=seconds)

    def worker(self) -> Worker:
        """The worker that carries out this pod's part of the steps."""
        arguments = self.arguments
        places = arguments.sys, arguments.proc, arguments.counters, arguments.scratch
        return Worker(Setting(self.me.node, *places, self.environment, self.limits))

    def facts(self) -> Facts:
        """Look at the node, and return everything that this pod says of it."""
        return facts_of(self.arguments, self.expected, self.environment, lambda: self.api.node(self.me.node))

    def entry(self, facts: Facts) -> Entry:
        """The facts on this pod that the others need. Raises NotYetError if its networks were not attached."""
        interfaces = facts["interfaces"]
        networks = {name: interface["addresses"][0] for name, interface in interfaces.items() if interface["addresses"]}
        before = self.board.entries().get(self.me.rank)
        replaced = before is not None and before["pod"] != self.me.pod
        entry: Entry = {
            "rank": self.me.rank,
            "node": self.me.node,
            "pod": self.me.pod,
            "address": self.me.address,
            "port": free_ports(),
            "devices": {hca["device"]: hca["pci_address"] or hca["device"] for hca in facts["hcas"]},
            "inactive": [hca["device"] for hca in facts["hcas"] if hca["state"] != "ACTIVE"],
            "networks": {**networks, "eth0": self.me.address},
            "replaced": before["replaced"] + replaced if before else 0,
        }
        absent = [name for name in self.expected["interfaces"] if name not in interfaces]
        if absent and entry["replaced"] < _REPLACED:
            self.board.enter(entry)
            raise NotYetError(
                f"the pod has no {', '.join(absent)}: Multus was not on node {self.me.node} when the pod started"
            )
        return entry

    def publish(self, facts: Facts) -> None:
        """Leave the facts at the path from which the leading pod reads them."""
        entry = {"run": self.me.run, "node": self.me.node, "index": self.me.rank, "facts": facts}
        self._merge({entry_key(self.me.node): json.dumps(entry)})

    def leading(self, carry: Carry, entry: Entry, node_count: int) -> Lead:
        """Lead this number of pods through their steps."""
        return Lead(
            self.board,
            entry,
            carry,
            node_count=node_count,
            poll_seconds=self.poll_seconds,
            timeout_seconds=self.arguments.measure_seconds,
        )
