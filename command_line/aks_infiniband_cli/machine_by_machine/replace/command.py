"""The command replace. Its imports take two seconds and Azure's clients, so they are made when it runs."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aks_infiniband_cli.azure.flags import url
from aks_infiniband_cli.console import Answer, Command, CommandError, at_work
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of

if TYPE_CHECKING:
    from aks_infiniband_cli.machine_by_machine.replace.beginning import Beginning
    from aks_infiniband_cli.machine_by_machine.replace.replacing import Wish

_ASKED: Final = "a person requested it"


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 to 1000")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0
    if not 0 < minutes <= 24 * 60:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of minutes above 0, at most a day")
    return minutes


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `replace`."""
    add: Callable[..., object] = parser.add_argument
    add("node", metavar="NODE", nargs="?", help="the node with the bad machine; a replacement that has begun continues")
    declare_cluster(parser)
    declare_namespace(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--dry-run", action="store_true", help="say what would be done, and what is at risk")
    watching = "take out every node that the light check calls unhealthy, one after the other, until it is stopped"
    what.add_argument("--watch", action="store_true", help=watching)
    what.add_argument("--stop", action="store_true", help="stop all that is under way, wherever it runs")
    what.add_argument("--release", action="store_true", help="let NODE in, whatever was measured")
    add("--reason", default=_ASKED, metavar="TEXT", help="why, for the history and the node's event")
    draining = "what becomes of the node's workloads: wait until they have ended, or evict them; default: wait"
    add("--drain", choices=("wait", "evict"), default="wait", help=draining)
    steps = ("restart", "redeploy", "delete")
    add("--farthest", choices=steps, default="delete", help="the last thing that is done to a machine; default: delete")
    add("--at-once", type=_count, default=1, metavar="N", help="of one pool at once; default: 1")
    add("--a-day", type=_count, default=3, metavar="N", help="of one pool in 24 hours; default: 3")
    limit = "how long a restart, a redeployment, a deletion or a new machine may take; default: 45"
    add("--limit-minutes", type=_minutes, default=45.0, metavar="N", help=limit)
    add(
        "--evidence",
        type=Path,
        default=Path(),
        metavar="FOLDER",
        help="folder for the evidence; default: the current folder",
    )
    add(
        "--endpoint",
        type=url,
        metavar="URL",
        help="of Azure Resource Manager; default: $ARM_ENVIRONMENT's cloud",
    )


def replace(flags: argparse.Namespace) -> Answer:
    """Show the plan, carry it out, watch, stop, or admit a node. FOUND if a pool is not whole."""
    if (flags.node is None) != (flags.watch or flags.stop):
        raise CommandError("name the node: aks-infiniband replace NODE" if flags.node is None else _NO_NODE)
    if not flags.evidence.is_dir():
        raise CommandError(f"--evidence is {flags.evidence}: this folder does not exist")
    file = kubeconfig_of(flags)
    with at_work(f"Reading the cluster of context {file.context}") as say:
        from aks_infiniband_cli.cluster import NO_ANSWER, connected  # noqa: PLC0415
        from aks_infiniband_cli.machine_by_machine.replace.beginning import Beginning  # noqa: PLC0415
        from aks_infiniband_cli.validate.run import Cluster  # noqa: PLC0415

        cluster = Cluster(client=connected(file.kubeconfig), kubeconfig=file.kubeconfig)
        beginning = Beginning(cluster=cluster, wish=_wish(flags), say=say)
        try:
            return _answer(beginning, flags)
        except NO_ANSWER as error:
            raise CommandError(f"a request to the cluster failed: {error}. {_LATER}") from error


_NO_NODE: Final = "--watch and --stop are about all nodes: leave NODE out"
_LATER: Final = "The progress is recorded in the cluster: run the same command again"


def _answer(beginning: "Beginning", flags: argparse.Namespace) -> Answer:
    from aks_infiniband_cli.machine_by_machine.replace import rendering  # noqa: PLC0415

    if flags.stop:
        return rendering.stopped(beginning.stop())
    if flags.release:
        return rendering.released(flags.node, beginning.let_in(flags.node))
    if flags.watch:
        return rendering.done(beginning.watch())
    plan = beginning.plan(flags.node, flags.reason)
    if flags.dry_run:
        return rendering.plan(plan, beginning.wish)
    if plan.refused:
        return rendering.refused(plan)
    return rendering.done([beginning.carry_on(plan.case)])


def _wish(flags: argparse.Namespace) -> "Wish":
    from aks_infiniband_cli.machine_by_machine.replace.decision import Budget  # noqa: PLC0415
    from aks_infiniband_cli.machine_by_machine.replace.replacing import Wish  # noqa: PLC0415

    return Wish(
        drain=flags.drain,
        farthest=flags.farthest,
        budget=Budget(at_once=flags.at_once, a_day=flags.a_day),
        folder=flags.evidence,
        limit=flags.limit_minutes,
        namespace=flags.namespace,
        endpoint=flags.endpoint,
    )


REPLACE: Final = Command(
    name="replace",
    help="take a bad machine out, restart, redeploy or delete it, and measure it before pods run there again",
    description=(
        "Takes a node's machine out of use, keeps evidence, has Azure restart it, redeploy it, and at last give "
        "another one, and measures after each step. If it is interrupted, run the same command again: it continues. "
        "--dry-run says what it would do."
    ),
    example="aks-infiniband replace aks-ndh100-12345678-vmss000003 --dry-run",
    declare=declare,
    run=replace,
    extra="azure",
)
