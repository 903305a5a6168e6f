"""What a pod does in each kind of step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from . import collective, networks, sockperf
from .counters import read_counters
from .pairing import PORTS, Limits, carry_out, tasks_of
from .process import Running

Members = Mapping[str, Mapping[str, Any]]


class Setting(NamedTuple):
    """Where a pod works: its node, the kernel's files, scratch space, its environment, and how long tools may take."""

    node: str
    sys: Path
    scratch: Path
    environment: Mapping[str, str]
    limits: Limits


class Worker:
    """Carries out steps; some leave servers running, which end with it."""

    def __init__(self, setting: Setting, *, start: Callable[[Sequence[str]], Running] = Running) -> None:
        """``start`` starts a program."""
        self._setting, self._start = setting, start
        self._servers: list[Running] = []

    def carry(self, step: Mapping[str, Any], members: Members) -> Any:
        """Do this pod's part of a step; returns what comes of it, as JSON-able data."""
        if "ring" in step or "pairs" in step:
            devices = {node: member["devices"] for node, member in members.items()}
            tasks = tasks_of(dict(step), list(members), devices)
            return carry_out(tasks, self._setting.node, members, self._setting.limits, start=self._start)
        if "serve" in step:
            return self._serve(step["serve"], members)
        if "sockperf" in step:
            return self._ask(step, members)
        if "collective" in step:
            return self._collective(step, members)
        return read_counters(self._setting.sys)

    def stop(self) -> None:
        """End the servers that still run."""
        for server in self._servers:
            server.kill()
        self._servers = []

    def _serve(self, interfaces: Sequence[str], members: Members) -> list[str]:
        me = members[self._setting.node]
        self._servers += [
            self._start(sockperf.server(me["networks"][interface], _port(me, interface)))
            for interface in interfaces
            if me["networks"].get(interface)
        ]
        return list(interfaces)

    def _ask(self, step: Mapping[str, Any], members: Members) -> dict[str, Any] | None:
        if self._setting.node not in step["nodes"]:
            return None
        names = list(members)
        peer = members[names[(names.index(self._setting.node) + 1) % len(names)]]
        interface = str(step["interface"])
        address = peer["networks"].get(interface)
        if not address:
            return {"values": None, "error": f"{peer['node']} has no address on {interface}"}
        return networks.ask(
            step["sockperf"],
            interface,
            address,
            _port(peer, interface),
            connect_seconds=self._setting.limits.connect_seconds,
            tool_seconds=self._setting.limits.tool_seconds,
            start=self._start,
        )

    def _collective(self, step: Mapping[str, Any], members: Members) -> dict[str, Any]:
        names = list(members)
        plan = step["plan"]
        place = collective.Place(
            node=self._setting.node,
            node_rank=names.index(self._setting.node),
            node_count=len(names),
            ranks_per_node=plan["ranks_per_node"],
            master=str(members[names[0]]["address"]),
            port=step["port"],
        )
        return collective.measure(
            place,
            tuning=step["collective"],
            plan=plan,
            folder=self._setting.scratch,
            environment=self._setting.environment,
        )


def _port(member: Mapping[str, Any], interface: str) -> int:
    """Where a pod serves on an interface: the last of its ports for eth0, those before it for net1, net2, …"""
    number = int("".join(filter(str.isdigit, interface)) or 0)
    return int(member["port"]) + PORTS - 1 - number
