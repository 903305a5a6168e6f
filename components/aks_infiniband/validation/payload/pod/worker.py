"""A pod's part of each step of the leading pod: the room that carries it out, and its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ..collective import nvlink
from ..collective import part as collective
from ..gpus import part as gpus
from ..look.counters import read_counters
from ..look.kernel import near_cpus
from ..pairs import part as pairs
from ..programs.clients import Limits
from ..programs.process import Running
from ..rdma import tools as rdma
from ..rdma.narrowing import rails_of
from ..talk.steps import Members, Results, Step
from ..tcp import tools as tcp


class Setting(NamedTuple):
    """A pod's place of work: its node, the kernel's files, scratch space, its environment, and the limit of tools."""

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
            around = rdma.Place(setting.node, setting.proc, setting.limits, partial(near_cpus, setting.sys))
            return rdma.carry_out(step, members, rails_of(members), around)
        if "serve" in step:
            self._servers += tcp.serve(step["serve"], members[setting.node])
            return list(step["serve"])
        if "sockperf" in step:
            return tcp.ask_next(step, members, setting.node, limits=setting.limits, proc=setting.proc)
        if "counters" in step:
            return read_counters(setting.counters)
        return self._use_gpus(step, members)

    def _use_gpus(self, step: Step, members: Members) -> Results:
        """Do this pod's part of a step that uses its GPUs."""
        setting = self._setting
        if "gpus" in step:
            place = gpus.Place(setting.node, setting.sys, setting.scratch, setting.environment)
            return gpus.measure(place, step["gpus"])
        ranks = nvlink if "nvlink_domains" in step else collective
        measure = pairs.carry_out if "node_pairs" in step else ranks.carry_out
        return measure(step, members, setting.node, folder=setting.scratch, environment=setting.environment)

    def stop(self) -> None:
        """End the servers that still run."""
        for server in self._servers:
            server.kill()
        self._servers = []
