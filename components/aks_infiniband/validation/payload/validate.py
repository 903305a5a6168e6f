"""One pod of the validation Job: looks at its node, tells the others, and (index 0) judges the pool.

Every pod stays until all have reported: as long as it runs, its node is taken, so no two pods see the same node.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, NamedTuple

from .api import Api, ApiError, in_cluster_url
from .judge import judge_pool
from .node_facts import Roots, read_node
from .outcome import EXIT_DONE, EXIT_RETRY, EXIT_VERDICT, finish
from .report import build_report, headline, message_of

REPORT_KEY = "report.json"


class Run(NamedTuple):
    """Which run this is, and who this pod is in it."""

    run: str
    rank: int
    node: str


def entry_key(node: str) -> str:
    """The key of the report ConfigMap under which a node's facts lie."""
    return f"node.{node}.json"


def entries_of(data: Mapping[str, str], run: str) -> dict[str, dict[str, Any]]:
    """The facts that the nodes of this run have left; those of other runs, and what cannot be read, left out."""
    found = {}
    for key, text in data.items():
        if not key.startswith("node."):
            continue
        try:
            entry = json.loads(text)
            if entry["run"] == run:
                found[str(entry["node"])] = dict(entry["facts"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def stale_keys(data: Mapping[str, str], nodes: Sequence[str]) -> list[str]:
    """The entries of nodes that have no part in this run."""
    current = {entry_key(node) for node in nodes}
    return [key for key in data if key.startswith("node.") and key not in current]


def gather(
    read: Callable[[], Mapping[str, str]],
    run: str,
    node_count: int,
    *,
    poll_seconds: float,
    timeout_seconds: float,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, dict[str, Any]]:
    """Wait until every node of the run has left its facts, or time is up; returns what is there then."""
    started = clock()
    while True:
        found = entries_of(read(), run)
        if len(found) >= node_count or clock() - started >= timeout_seconds:
            return found
        print(f"{len(found)} of {node_count} nodes have reported", flush=True)
        sleep(poll_seconds)


def _arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="validate", description=__doc__)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--report", required=True, help="name of the pool's report ConfigMap")
    parser.add_argument("--expectations", required=True, type=Path)
    parser.add_argument("--mode", required=True, choices=("enforce", "warn"))
    parser.add_argument("--poll-seconds", required=True, type=float)
    parser.add_argument("--timeout-seconds", required=True, type=float, help="how long to wait for the other nodes")
    parser.add_argument(
        "--linger-seconds",
        type=float,
        default=0.0,
        help="how much longer to wait for nodes that did not report, once the report says so, before the verdict is "
        "given: it ends the Job, whose pods show why the others did not",
    )
    parser.add_argument("--termination-log", required=True, type=Path)
    parser.add_argument("--sys", required=True, type=Path)
    parser.add_argument("--dev", required=True, type=Path)
    parser.add_argument("--proc", required=True, type=Path)
    parser.add_argument("--shm", required=True, type=Path)
    parser.add_argument("--token", type=Path)
    parser.add_argument("--ca", type=Path)
    parser.add_argument("--api", help="address of the API server; default: what the kubelet says")
    return parser.parse_args(argv)


def who_am_i(environment: Mapping[str, str]) -> Run:
    """From what the Job controller and the downward API put into the environment. Raises KeyError, ValueError."""
    return Run(environment["JOB_UID"], int(environment["JOB_COMPLETION_INDEX"]), environment["NODE_NAME"])


def _leave_report(api: Api, arguments: argparse.Namespace, report: Mapping[str, Any]) -> None:
    """Write the report, and clear away the entries of nodes that have no part in it."""
    changes: dict[str, str | None] = {REPORT_KEY: json.dumps(report)}
    data = api.config_map_data(arguments.namespace, arguments.report)
    changes.update(dict.fromkeys(stale_keys(data, list(report["nodes"]))))
    api.merge_config_map_data(arguments.namespace, arguments.report, changes)


def _validate(arguments: argparse.Namespace, environment: Mapping[str, str]) -> tuple[int, str]:
    me = who_am_i(environment)
    expected = json.loads(arguments.expectations.read_text(encoding="utf-8"))
    api = Api(arguments.api or in_cluster_url(environment), token=arguments.token, ca=arguments.ca)

    def wait_for_all(timeout_seconds: float) -> dict[str, dict[str, Any]]:
        return gather(
            lambda: api.config_map_data(arguments.namespace, arguments.report),
            me.run,
            expected["node_count"],
            poll_seconds=arguments.poll_seconds,
            timeout_seconds=timeout_seconds,
        )

    def leave_report(found: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        checks = judge_pool(found, expected)
        report = build_report(found, checks, expected, run=me.run, mode=arguments.mode, finished=now)
        _leave_report(api, arguments, report)
        return report

    accelerators: Mapping[str, Any] | None = expected["accelerators"]
    roots = Roots(arguments.sys, arguments.dev, arguments.proc, arguments.shm)
    facts = read_node(roots, environment, accelerators["device_pattern"] if accelerators else None)
    entry = {"run": me.run, "node": me.node, "index": me.rank, "facts": facts}
    api.merge_config_map_data(arguments.namespace, arguments.report, {entry_key(me.node): json.dumps(entry)})
    found = wait_for_all(arguments.timeout_seconds)
    if me.rank != 0:
        return (
            EXIT_DONE,
            f"node {me.node} has reported, with {len(found)} of {expected['node_count']} nodes; index 0 judges",
        )
    report = leave_report(found)
    if len(found) < expected["node_count"] and arguments.linger_seconds:
        print(message_of(report), flush=True)
        report = leave_report(wait_for_all(arguments.linger_seconds))
    if report["verdict"] == "pass":
        return EXIT_DONE, headline(report)
    failed = report["verdict"] != "warn" and arguments.mode == "enforce"
    return (EXIT_VERDICT if failed else EXIT_DONE), message_of(report)


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run with the command line's arguments; returns the exit code."""
    arguments = _arguments(argv)
    try:
        code, message = _validate(arguments, environment)
    except Exception as error:
        code, message = EXIT_RETRY, f"the validation could not be made: {type(error).__name__}: {error}"
        if not isinstance(error, (ApiError, OSError)):
            print(repr(error), file=sys.stderr)
    return finish(code, message, arguments.termination_log)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
