"""How a pod of the validation starts and ends: its command line, who it is, its exit code and its last words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

DESCRIPTION = "One pod of the validation of a pool; index 0 leads and judges."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of a pod; ends the program where one is missing or wrong."""
    parser = argparse.ArgumentParser(prog="validate", description=DESCRIPTION)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--report", required=True, help="the ConfigMap in which the pods meet and report")
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
    parser.add_argument("--measure-seconds", required=True, type=float, help="limit of all measurements together")
    parser.add_argument("--scratch", required=True, type=Path, help="folder for files that nobody needs afterwards")
    for name in ("expectations", "sys", "dev", "proc", "shm"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--counters", type=Path, help="the machine's own /sys/class/infiniband")
    parser.add_argument("--common", type=Path, help="file with what is expected of every pool of this kind")
    parser.add_argument("--metadata", required=True, help="address of what Azure says of this machine")
    parser.add_argument("--selector", default="", help="label selector of the pool's nodes; for the scheduled check")
    parser.add_argument("--limits", type=Path, help="file with the memlock limit of a user other than root")
    parser.add_argument("--attachments", type=Path, help="file with the pod's annotation network-status")
    add_api_arguments(parser)
    return parser.parse_args(argv)


def add_api_arguments(parser: argparse.ArgumentParser) -> None:
    """How a pod reaches the API server, and where the kubelet looks for its last words."""
    parser.add_argument("--termination-log", required=True, type=Path)
    parser.add_argument("--token", type=Path)
    parser.add_argument("--ca", type=Path)
    parser.add_argument("--api", help="address of the API server; default: what the kubelet says")


class Me(NamedTuple):
    """Which run this is, and who this pod is in it."""

    run: str
    rank: int
    node: str
    pod: str
    address: str


def who_am_i(environment: Mapping[str, str]) -> Me:
    """From what the Job controller and the downward API put into the environment. Raises KeyError, ValueError."""
    return Me(
        environment["JOB_UID"],
        int(environment["JOB_COMPLETION_INDEX"]),
        environment["NODE_NAME"],
        environment["POD_UID"],
        environment["POD_IP"],
    )


EXIT_DONE = 0
EXIT_VERDICT = 1
"""The work was done and the answer is no: trying again would give the same answer, so the Job fails at once."""
EXIT_RETRY = 75
"""The work could not be done: the Job starts the pod again, until its deadline (EX_TEMPFAIL of sysexits.h)."""

TERMINATION_MESSAGE_BYTES = 4096
"""What the kubelet keeps of a container's termination message (Kubernetes, "Determine the Reason for Pod Failure")."""


def shorten(message: str, limit: int = TERMINATION_MESSAGE_BYTES) -> str:
    """The message within ``limit`` bytes of UTF-8, its end dropped with a mark when it was longer."""
    encoded = message.encode()
    if len(encoded) <= limit:
        return message
    mark = " […]"
    return encoded[: limit - len(mark.encode())].decode(errors="ignore") + mark


def finish(code: int, message: str, termination_log: Path) -> int:
    """Print the message, leave it where the kubelet looks for it, and return ``code``."""
    print(message, flush=True)
    try:
        termination_log.write_text(shorten(message), encoding="utf-8")
    except OSError as error:
        print(f"{termination_log}: {error}", file=sys.stderr, flush=True)
    return code
