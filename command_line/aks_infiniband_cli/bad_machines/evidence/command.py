"""The command evidence. Its imports take a second, so they are made when it runs."""

import argparse
from pathlib import Path
from typing import Final

from aks_infiniband_cli.console import Answer, Command, at_work, uncut
from aks_infiniband_cli.documents import content_of, name_of, require_new, write_document
from aks_infiniband_cli.kubeconfig import declare_cluster, declare_namespace, kubeconfig_of

_TOLD: Final = ("node", "physical_host_name", "resource_id", "vm_id", "not_read")
"""The keys of the output for a program; all the rest is in the file."""


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `evidence`."""
    parser.add_argument("node", metavar="NODE", help="the node whose machine it is about")
    declare_cluster(parser)
    declare_namespace(parser)
    measured = "what `aks-infiniband validate` has kept of the node with --out, which is evidence too; - is stdin"
    parser.add_argument("--report", metavar="FILE", help=measured)
    parser.add_argument("--out", type=Path, metavar="FILE", help="default: evidence-NODE.json, here")


def evidence(flags: argparse.Namespace) -> Answer:
    """Keep what a support case needs."""
    from aks_infiniband_cli.bad_machines.evidence.case import problems_of  # noqa: PLC0415
    from aks_infiniband_cli.bad_machines.evidence.collecting import collect  # noqa: PLC0415

    file = kubeconfig_of(flags)
    out: Path = flags.out or Path(f"evidence-{flags.node}.json")
    require_new({"--out": out})
    measured = (content_of(flags.report), name_of(flags.report)) if flags.report else None
    with at_work(f"Asking node {flags.node}") as say:
        case = collect(file.kubeconfig, flags.node, flags.namespace, measured=measured, say=say)
    write_document(case, out)
    document = {"file": str(out), **{key: case[key] for key in _TOLD}, "problems": problems_of(case)}
    return Answer(document=document, lines=[uncut(case["ticket"]), uncut(f"\nkept: {out}")])


EVIDENCE: Final = Command(
    name="evidence",
    help="keep what a support case needs of a machine, before it is restarted",
    description=(
        "Writes into one file which machine a node is and what is wrong with it, and prints the text for a ticket. The "
        "command runs one pod on the node, and sends the file to no one."
    ),
    example="aks-infiniband evidence aks-ndh100-12345678-vmss000001",
    declare=declare,
    run=evidence,
)
