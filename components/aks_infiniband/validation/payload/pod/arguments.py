"""The command line of a pod that measures."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..talk.api import add_api_arguments

DESCRIPTION = "One pod of the validation of a pool; index 0 leads and judges."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of a pod; ends the program if one is missing or wrong."""
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
    parser.add_argument("--scratch", required=True, type=Path, help="folder for files that are not needed afterwards")
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
