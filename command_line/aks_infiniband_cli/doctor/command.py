"""The command doctor. What it imports takes a second, so it is imported when it runs."""

import argparse
import os
from pathlib import Path
from typing import Final

from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, CommandError, at_work

_DEFAULT: Final = "~/.kube/config"


def declare(doctor: argparse.ArgumentParser) -> None:
    """Add the flags of `doctor`."""
    doctor.add_argument("--kubeconfig", metavar="FILE", help=f"the cluster; default: $KUBECONFIG, else {_DEFAULT}")
    doctor.add_argument("--context", help="of the kubeconfig; default: its current one")


def doctor(given: argparse.Namespace) -> Answer:
    """Look at the cluster. The exit code is FOUND where something is wrong."""
    from aks_infiniband.access.kubeconfig import KubeconfigError  # noqa: PLC0415
    from aks_infiniband.access.kubeconfig_file import read_kubeconfig  # noqa: PLC0415

    from aks_infiniband_cli.doctor import rendering  # noqa: PLC0415
    from aks_infiniband_cli.doctor.examine import examine  # noqa: PLC0415
    from aks_infiniband_cli.doctor.read import read  # noqa: PLC0415

    path = _path(given.kubeconfig)
    if not Path(path).expanduser().is_file():
        raise CommandError(f"there is no kubeconfig {path}: --kubeconfig says where it is")
    try:
        file = read_kubeconfig(path, context=given.context)
    except KubeconfigError as error:
        raise CommandError(str(error)) from error
    with at_work(f"Reading the cluster of context {file.context}"):
        snapshot = read(file.kubeconfig)
    found, unread = examine(snapshot), snapshot.view.unread
    return Answer(
        document=rendering.document(found, unread),
        text=rendering.text(found, unread),
        shown=rendering.shown(found, unread),
        exit_code=FOUND if found else FINE,
    )


def _path(given: str | None) -> str:
    """Of several files in KUBECONFIG the first that exists, as far as one file goes."""
    several = filter(None, os.environ.get("KUBECONFIG", "").split(os.pathsep))
    return given or next((path for path in several if Path(path).expanduser().is_file()), _DEFAULT)


DOCTOR: Final = Command(
    name="doctor",
    help="look at a live cluster, read-only, and say what is wrong with it, why, and what helps",
    description=(
        "Reads a cluster once, whoever built it, and names the symptoms that it shows, from a catalogue of what users "
        "of InfiniBand on AKS have met (docs/doctor.md). It changes nothing."
    ),
    example="aks-infiniband doctor --kubeconfig cluster.yaml --output json",
    declare=declare,
    run=doctor,
)
