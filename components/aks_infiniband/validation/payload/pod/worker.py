"""A pod's part of each step that the leading pod asks for: which room carries it out, and with what."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..collective import part as collective
from ..look.counters import read_counters
from ..look.kernel import near_cpus
from ..pairs import part as pairs
from ..programs.clients import Limits
from ..programs.process import Running
from ..rdma import part as rdma
from ..rdma.narrowing import rails_of
from ..talk.steps import Members, Results, Step
from ..tcp import part as tcp


class Setting(NamedTuple):
    """Where a pod works: its node, the kernel's files, scratch space, its environment, and how long tools may take."""

    node: str
    sys: Path
    proc: Path
    counters: Path | None
    scratch: Path
    environment: Mapping[str, str]
    limits: Limits


class Worker:
    """Carries out steps. Some steps leave servers running, which end with the worker."""

    def __init__(self, setting: Setting) -> None:
        """Make a worker that has not carried out anything yet."""
        self._setting = setting
        self._servers: list[Running] = []

    def carry(self, step: Step, members: Members) -> Results:
        """Do this pod's part of a step; returns its results as JSON-able data."""
        setting = self._setting
        if "kind" in step:
            place = rdma.Place(setting.node, setting.proc, setting.limits, partial(near_cpus, setting.sys))
            return rdma.carry_out(step, members, rails_of(members), place)
        if "serve" in step:
            self._servers += tcp.serve(step["serve"], members[setting.node])
            return list(step["serve"])
        if "sockperf" in step:
            return tcp.ask_next(step, members, setting.node, limits=setting.limits, proc=setting.proc)
        if "node_pairs" in step:
            return pairs.carry_out(step, members, setting.node, folder=setting.scratch, environment=setting.environment)
        if "collective" in step:
            return collective.carry_out(
                step, members, setting.node, folder=setting.scratch, environment=setting.environment
            )
        return read_counters(setting.counters)

    def stop(self) -> None:
        """End the servers that still run."""
        for server in self._servers:
            server.kill()
        self._servers = []
