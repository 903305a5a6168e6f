"""The command rollout. Its imports take a second, so they are made when it runs."""

import argparse
from typing import TYPE_CHECKING, Final

from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, lines_of
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of

if TYPE_CHECKING:
    from aks_infiniband_cli.machine_by_machine.rollout.gate import Rollout


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `rollout`."""
    declare_cluster(parser)
    declare_namespace(parser)
    kinds = "whose driver changes, the HCAs' or the GPUs'; default: nic"
    parser.add_argument("--driver", choices=("nic", "gpu"), default="nic", help=kinds)
    place = "of the operator whose driver changes; default: the stack's namespace for it, else the one with its pods"
    parser.add_argument("--operator-namespace", metavar="NAME", help=place)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--first", metavar="NODE", help="the node that gets the driver first; default: an idle one")
    how.add_argument(
        "--release", action="store_true", help="release the nodes that are held, regardless of the measurement"
    )
    back = "for a version that went back: release the held nodes when the first node has its old driver again"
    how.add_argument("--back", action="store_true", help=back)


def rollout(flags: argparse.Namespace) -> Answer:
    """Hold, wait, measure and judge; or let go. The exit code is FOUND if the driver falls short."""
    from aks_infiniband_cli.cluster import NO_ANSWER, connected  # noqa: PLC0415
    from aks_infiniband_cli.console import CommandError  # noqa: PLC0415
    from aks_infiniband_cli.machine_by_machine.rollout import gate  # noqa: PLC0415
    from aks_infiniband_cli.machine_by_machine.rollout.drivers import DRIVERS  # noqa: PLC0415

    file = kubeconfig_of(flags)
    with at_work(f"Reading the cluster of context {file.context}") as say:
        try:
            if not flags.release and not flags.back:
                places = {"namespace": flags.namespace, "operator_namespace": flags.operator_namespace}
                return answer_of(gate.roll_out(file.kubeconfig, DRIVERS[flags.driver], flags.first, say, **places))
            let_go = gate.let_go_when_back if flags.back else gate.let_go
            released = let_go(connected(file.kubeconfig))
        except NO_ANSWER as error:
            raise CommandError(f"a request to the cluster failed: {error}") from error
    said = f"released: {', '.join(released)}" if released else "no node is held"
    return Answer(document={"released": released}, lines=lines_of(said))


def answer_of(rollout: "Rollout") -> Answer:
    """The output of a rollout: lines for a person, a document for a program."""
    from aks_infiniband_cli.validate import rendering  # noqa: PLC0415

    measured = rendering.pool_lines(rollout.pool) if rollout.pool else ()
    document = {
        "accepted": not rollout.shortfalls,
        "first": rollout.first,
        "driver": {"name": rollout.driver.name, "before": rollout.before, "now": rollout.now},
        "not_held": list(rollout.not_held),
        "shortfalls": list(rollout.shortfalls),
        "held": list(rollout.others) if rollout.shortfalls else [],
        "released": [] if rollout.shortfalls else list(rollout.others),
        "pools": {rollout.pool.name: rendering.document_of(rollout.pool)} if rollout.pool else {},
    }
    return Answer(
        document=document,
        lines=lines_of(*measured, *_lines(rollout)),
        exit_code=FOUND if rollout.shortfalls else FINE,
    )


def _lines(rollout: "Rollout") -> list[tuple[str, str]]:
    """Each line below what was measured, and its style on a terminal."""
    others, changed = ", ".join(rollout.others), ", ".join(rollout.not_held)
    everywhere = [(f"not held, the {rollout.driver.operator} changed them on every node: {changed}", "yellow")]
    if not rollout.shortfalls:
        return [
            (f"accepted on {rollout.first}: {rollout.now}", "green"),
            *(everywhere if changed else ()),
            (f"the others follow, one by one: {others}", ""),
            ("  then: pulumi up, which measures the whole pool", "cyan"),
        ]
    changes = f"set {rollout.driver.setting} as it was, run {rollout.driver.update}"
    if changed or rollout.before == rollout.now:
        changes = f"set what changed of the {rollout.driver.operator} as it was, update it as before"
    return [
        *((f"short on {rollout.first}: {shortfall}", "bold red") for shortfall in rollout.shortfalls),
        *(everywhere if changed else ()),
        (f"held back, with {rollout.before}: {others}", "yellow"),
        (f"  go back: {changes}, and then aks-infiniband rollout --back", "cyan"),
        ("  continue all the same: aks-infiniband rollout --release, and then pulumi up", "cyan"),
    ]


ROLLOUT: Final = Command(
    name="rollout",
    help="have another driver on one node first, measured; the other nodes follow if it is as fast",
    description=(
        "Holds all nodes back except one, waits until an update brings another driver there, and measures it "
        "against what the stack has accepted. Then the others follow, or it stops and says which figure fell."
    ),
    example="aks-infiniband rollout",
    declare=declare,
    run=rollout,
)
