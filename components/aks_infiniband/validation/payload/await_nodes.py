"""Waits until every node of a pool is Ready, offers what the pool promises, and has done so for a while.

The operators report ready before each node offers its resources, and may go back to not ready. So this program checks
every node, and checks again for a while.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable, NamedTuple

from .look.kernel import read_memlock
from .talk.api import ApiError, Object, add_api_arguments, api_of
from .talk.quantities import quantity
from .talk.termination import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish
from .talk.waiting import pause_seconds

_UPGRADE_STATES = ("nvidia.com/ofed-driver-upgrade-state", "nvidia.com/gpu-driver-upgrade-state")
_UPGRADED = "upgrade-done"
"""Labels that the two operators keep on a node while they roll out a driver, and their value afterwards."""


class Promise(NamedTuple):
    """The goal of the wait: a number of nodes, each with at least these allocatable amounts and with these labels."""

    pool: str
    node_count: int
    resources: Mapping[str, int]
    labels: Mapping[str, str]


class Patience(NamedTuple):
    """The pause between looks, the time for which all must stay good, and the limit; all in seconds."""

    poll_seconds: float
    stable_seconds: float
    timeout_seconds: float


def lacks(node: Object, promise: Promise) -> list[str]:
    """The lacks that keep one node from being usable, in words; empty if there are none."""
    missing = []
    conditions = {c["type"]: c for c in node.get("status", {}).get("conditions", [])}
    ready = conditions.get("Ready", {})
    if ready.get("status") != "True":
        reason = ready.get("reason") or "no Ready condition"
        missing.append(f"not Ready ({reason})")
    if node.get("spec", {}).get("unschedulable"):
        missing.append("cordoned")
    allocatable = node.get("status", {}).get("allocatable", {})
    for resource, least in sorted(promise.resources.items()):
        offered = quantity(allocatable.get(resource, "0"))
        if offered < least:
            missing.append(f"{resource} {offered}, expected at least {least}")
    labels = node.get("metadata", {}).get("labels", {})
    for upgrade in (labels.get(state, _UPGRADED) for state in _UPGRADE_STATES):
        if upgrade != _UPGRADED:
            missing.append(f"its driver is being upgraded ({upgrade})")
    for label, value in sorted(promise.labels.items()):
        if labels.get(label) != value:
            missing.append(f"label {label}={labels.get(label, '')}, expected {value}")
    return missing


def laggards(nodes: Sequence[Object], promise: Promise) -> list[str]:
    """One line for each node that is not there yet, and one for nodes that are missing altogether."""
    lines = []
    for node in sorted(nodes, key=lambda n: str(n["metadata"]["name"])):
        missing = lacks(node, promise)
        if missing:
            lines.append(f"node {node['metadata']['name']}: {', '.join(missing)}")
    if len(nodes) < promise.node_count:
        lines.append(f"{promise.node_count - len(nodes)} of {promise.node_count} nodes have not joined the cluster")
    return lines


def await_nodes(
    look: Callable[[], Sequence[Object]],
    promise: Promise,
    patience: Patience,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[str]:
    """Look until no node has lagged for ``stable_seconds``, or until time is up; returns the lines about nodes that
    still lag.

    A look that fails starts the stable time again, because an unknown state is not a stable one.
    """
    started = clock()
    good_since: float | None = None
    shown: list[str] | None = None
    while True:
        try:
            late = laggards(look(), promise)
        except (ApiError, ValueError) as error:
            late = [f"the nodes could not be read: {error}"]
        now = clock()
        good_since = None if late else (now if good_since is None else good_since)
        if good_since is not None and now - good_since >= patience.stable_seconds:
            return []
        if late != shown:
            print("; ".join(late) or f"all nodes good, watching for {patience.stable_seconds:g} s", flush=True)
            shown = late
        if now - started >= patience.timeout_seconds:
            return late or [f"all nodes good only since {now - (good_since or now):.0f} s, which is not yet stable"]
        left = patience.poll_seconds if good_since is None else good_since + patience.stable_seconds - now
        sleep(min(patience.poll_seconds, left))


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r}: expected NAME=VALUE, such as nvidia.com/gpu=8 or agentpool=ndh100")
    return name, value


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="await_nodes", description=__doc__)
    parser.add_argument("--pool", required=True)
    parser.add_argument("--selector", required=True, help="label selector of the pool's nodes")
    parser.add_argument("--nodes", required=True, type=int)
    parser.add_argument("--resource", action="append", default=[], type=_pair, metavar="NAME=LEAST")
    parser.add_argument("--label", action="append", default=[], type=_pair, metavar="NAME=VALUE")
    for name in ("poll", "stable", "timeout"):
        parser.add_argument(f"--{name}-seconds", required=True, type=float)
    parser.add_argument("--proc", type=Path, help="the folder in which the kernel shows a process its limits")
    parser.add_argument("--limits", type=Path, help="file in which to leave this user's limit on locked memory")
    add_api_arguments(parser)
    return parser.parse_args(argv)


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    arguments = _arguments(argv)
    resources = {name: int(least) for name, least in arguments.resource}
    promise = Promise(arguments.pool, arguments.nodes, resources, dict(arguments.label))
    pause = pause_seconds(arguments.poll_seconds, arguments.nodes)
    patience = Patience(pause, arguments.stable_seconds, arguments.timeout_seconds)
    try:
        api = api_of(arguments, environment)
    except (ApiError, OSError) as error:
        return finish(EXIT_RETRY, f"pool {promise.pool}: {error}", arguments.termination_log)
    if arguments.limits and arguments.proc:
        arguments.limits.write_text(json.dumps({"memlock_bytes": read_memlock(arguments.proc)}), encoding="utf-8")
    late = await_nodes(lambda: api.nodes(arguments.selector), promise, patience)
    offers = [f"{name} at least {least}" for name, least in sorted(promise.resources.items())]
    offers += [f"label {name}={value}" for name, value in sorted(promise.labels.items())]
    if late:
        message = f"pool {promise.pool} after {patience.timeout_seconds:g} s: " + "; ".join(late)
        return finish(EXIT_VERDICT, message, arguments.termination_log)
    offered = f"each with {', '.join(offers)}, " if offers else ""
    message = (
        f"pool {promise.pool}: {promise.node_count} of {promise.node_count} nodes Ready, {offered}"
        f"stable for {patience.stable_seconds:g} s"
    )
    return finish(EXIT_DONE, message, arguments.termination_log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
