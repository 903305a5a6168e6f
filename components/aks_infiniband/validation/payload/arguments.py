"""The command line of a validation's pod: where everything is, since the payload knows no path of its own."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

DESCRIPTION = "One pod of the validation of a pool; index 0 leads and judges."


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of a pod; ends the program where one is missing or wrong."""
    parser = argparse.ArgumentParser(prog="validate", description=DESCRIPTION)
    parser.add_argument("--namespace", required=True)
    parser.add_argument("--report", required=True, help="name of the pool's report ConfigMap")
    parser.add_argument("--rendezvous", required=True, help="the ConfigMap in which the pods meet")
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
    parser.add_argument("--measure-seconds", required=True, type=float, help="limit of all measurements together")
    parser.add_argument("--scratch", required=True, type=Path, help="folder for files that nobody needs afterwards")
    parser.add_argument("--termination-log", required=True, type=Path)
    parser.add_argument("--sys", required=True, type=Path)
    parser.add_argument("--dev", required=True, type=Path)
    parser.add_argument("--proc", required=True, type=Path)
    parser.add_argument("--shm", required=True, type=Path)
    parser.add_argument("--limits", type=Path, help="file with the memlock limit of a user other than root")
    parser.add_argument("--attachments", type=Path, help="file with the pod's annotation network-status")
    parser.add_argument("--token", type=Path)
    parser.add_argument("--ca", type=Path)
    parser.add_argument("--api", help="address of the API server; default: what the kubelet says")
    return parser.parse_args(argv)
