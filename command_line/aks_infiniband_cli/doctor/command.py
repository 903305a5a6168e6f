"""The command doctor. Its imports take a second, so they are made when it runs."""

import argparse
from typing import Final

from aks_infiniband.terminal import page

from aks_infiniband_cli.console import Answer, Command, at_work
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `doctor`."""
    declare_cluster(parser)
    declare_namespace(parser)


def doctor(flags: argparse.Namespace) -> Answer:
    """Look at the cluster. The exit code is FOUND if something is wrong."""
    from aks_infiniband_cli.doctor import rendering  # noqa: PLC0415
    from aks_infiniband_cli.doctor.examine import examine  # noqa: PLC0415
    from aks_infiniband_cli.doctor.read import read  # noqa: PLC0415
    from aks_infiniband_cli.doctor.unmeasured import to_measure  # noqa: PLC0415

    file = kubeconfig_of(flags)
    with at_work(f"Reading the cluster of context {file.context}"):
        snapshot = read(file.kubeconfig, namespace=flags.namespace)
    return rendering.answer(examine(snapshot), snapshot.view.unread, to_measure(snapshot))


DOCTOR: Final = Command(
    name="doctor",
    help="look at a live cluster, read-only, and say what is wrong with it, why, and what helps",
    description=(
        "Reads any cluster once and names what is wrong with it, by a catalogue of what users "
        f"of InfiniBand on AKS have met ({page('doctor')}). The command changes nothing."
    ),
    example="aks-infiniband doctor --kubeconfig cluster.yaml --output json",
    declare=declare,
    run=doctor,
)
