"""The command init: flags, questions for what no flag says, and what is printed."""

import argparse
import re
import sys
from pathlib import Path
from typing import Final, get_args

from aks_infiniband.facts.azure_names import REGIONS
from aks_infiniband.facts.bounds import MOST_NODES
from aks_infiniband.facts.catalog import SIZES
from aks_infiniband.facts.catalog.machine import GpuDriver
from aks_infiniband.handwritten import HandwrittenError, read
from aks_infiniband.terminal import page
from rich.console import Group
from rich.prompt import Confirm, IntPrompt, InvalidResponse, Prompt

from aks_infiniband_cli.choose.answers import Answers, Fabric, Workload
from aks_infiniband_cli.choose.decision import decide, usual_size
from aks_infiniband_cli.choose.page import decision_lines, decision_table, document_of
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, CommandError, at_work, stack_name, uncut
from aks_infiniband_cli.documents import write_new

_MOST_GPUS: Final = 16
"""Number of GPUs of one machine."""
_UNKNOWN: Final = "I do not know"
_PROJECT: Final = "aks-infiniband"
_ANSWERS: Final = ("workload", "size", "gpus", "nodes", "verbs", "gpu_driver", "cluster", "region")
"""Flags without a default."""
_NOTHING_WRITTEN: Final = "No stack file is written."
_ALL_THE_SAME: Final = f"{_NOTHING_WRITTEN} --with-infiniband writes one all the same."


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `init`."""
    parser.add_argument(
        "--workload",
        choices=get_args(Workload),
        action="append",
        help="what will run; give it once for each kind; tcp-ip: programs without RDMA",
    )
    parser.add_argument("--size", metavar="NAME", help="machine size, such as Standard_ND96isr_H100_v5")
    parser.add_argument("--gpus", type=_positive, help="GPUs wanted, of all machines together")
    parser.add_argument("--nodes", type=_positive, help="machines wanted; default: what the GPUs need, or 2")
    parser.add_argument(
        "--verbs", action=argparse.BooleanOptionalAction, help="whether the programs use verbs, as NCCL and UCX do"
    )
    parser.add_argument(
        "--gpu-driver", choices=get_args(GpuDriver), help="who installs the GPUs' driver; default: as the size needs"
    )
    parser.add_argument("--cluster", choices=("new", "existing"), help="a new one, or one that is there; default: new")
    parser.add_argument(
        "--fabric",
        choices=get_args(Fabric),
        default="infiniband",
        help="network between an existing cluster's machines",
    )
    parser.add_argument("--region", choices=sorted(REGIONS), metavar="REGION", help="Azure region of a new cluster")
    parser.add_argument(
        "--with-infiniband", action="store_true", help="choose InfiniBand even if it is not worth its price"
    )
    parser.add_argument(
        "--stack",
        type=stack_name,
        default="infiniband",
        metavar="NAME",
        help="writes Pulumi.NAME.yaml; default: infiniband",
    )
    parser.add_argument("--folder", type=Path, default=Path(), help="folder for the file; default: the current folder")
    parser.add_argument("--explain", type=Path, metavar="STACKFILE", help="explain this stack file, and write none")


def init(flags: argparse.Namespace) -> Answer:
    """Decide and write, or explain. The exit code is FOUND if InfiniBand is not worth its price."""
    if flags.explain is not None:
        answered = [f"--{name.replace('_', '-')}" for name in _ANSWERS if getattr(flags, name) is not None]
        if answered:
            raise CommandError(f"--explain reads the answers from the stack file: leave out {', '.join(answered)}")
        return _explained(flags.explain)
    if sys.stdin.isatty() and flags.output == "text":
        _ask(flags)
    answers = _answers(flags)
    decision = decide(answers, with_infiniband=flags.with_infiniband)
    file = None
    if decision.mode is not None:
        from aks_infiniband_cli.choose.stack_file import stack_file  # noqa: PLC0415  the settings take long to load

        file = flags.folder / f"Pulumi.{flags.stack}.yaml"
        write_new(file, stack_file(decision, answers, stack=flags.stack, project=_project(flags.folder)))
    document = {**document_of(decision, answers.region), "file": str(file) if file else None}
    next_step = f"Written: {file}. {_rehearse(flags.folder, flags.stack)}"
    if file is None:
        next_step = _ALL_THE_SAME if decision.size else _NOTHING_WRITTEN
    ending = [uncut(), uncut(next_step)]
    return Answer(
        document=document,
        lines=[*decision_lines(document), *ending],
        table=Group(decision_table(document), *ending),
        exit_code=FINE if decision.mode is not None else FOUND,
    )


def _explained(path: Path) -> Answer:
    with at_work("Reading the stack file"):
        from aks_infiniband_cli.choose.explain import explain  # noqa: PLC0415 seconds that a decision does not need

        decisions, region = explain(path)
    pools = [{"pool": name, **document_of(decision, region)} for name, decision in decisions.items()]
    lines = [line for pool in pools for line in (uncut(), uncut(f"Pool {pool['pool']}"), *decision_lines(pool))]
    tables = [part for pool in pools for part in (f"Pool {pool['pool']}", decision_table(pool))]
    return Answer(document={"pools": pools}, lines=lines[1:], table=Group(*tables))


def _rehearse(folder: Path, stack: str) -> str:
    """The words on a rehearsal of the stack file in the folder."""
    if not (folder / "Pulumi.yaml").is_file():
        return f"The folder does not have a program yet (Pulumi.yaml): {page('afternoon')} shows one"
    has_makefile = (folder / "Makefile").is_file() and (folder / "rehearsal").is_dir()
    return f"Rehearse it: {f'make rehearse STACK={stack}' if has_makefile else f'rehearsal up {stack}'}"


def _project(folder: Path) -> str:
    """The name of the folder's Pulumi project; that of this one, if the folder lacks one."""
    file = folder / "Pulumi.yaml"
    try:
        document = read(file) if file.is_file() else None
    except HandwrittenError as error:
        raise CommandError(f"{file}: {error}") from error
    return str(document["name"]) if isinstance(document, dict) and document.get("name") else _PROJECT


def _answers(flags: argparse.Namespace) -> Answers:
    if flags.workload is None:
        raise CommandError(
            f"--workload is missing. Allowed: {', '.join(get_args(Workload))}; on a terminal the command prompts for it"
        )
    return Answers(
        workloads=tuple(dict.fromkeys(flags.workload)),
        vm_size=flags.size,
        gpus=flags.gpus,
        nodes=flags.nodes,
        verbs=flags.verbs,
        gpu_driver=flags.gpu_driver,
        existing=flags.cluster == "existing",
        fabric=flags.fabric,
        region=flags.region or Answers.region,
    )


def _ask(flags: argparse.Namespace) -> None:
    """Prompt for the answers that no flag gives. An empty answer leaves the choice to the program."""
    if flags.workload is None:
        flags.workload = _Workloads.ask("What will run? (several: with commas)", default="training").split(",")
    if flags.size is None:
        size = Prompt.ask("Machine size (Azure's name)", default=_UNKNOWN)
        flags.size = None if size == _UNKNOWN else size
    if flags.gpus is None and flags.nodes is None:
        while flags.nodes is None or flags.nodes < 1:
            flags.nodes = IntPrompt.ask("How many machines?", default=2)
    if flags.verbs is None and "tcp-ip" not in flags.workload:
        flags.verbs = Confirm.ask("Do the programs use RDMA (verbs, NCCL, UCX)?", default=True)
    if flags.gpu_driver is None and _has_drivers(flags):
        drivers = [*get_args(GpuDriver), _UNKNOWN]
        driver = Prompt.ask("Who installs the GPUs' driver?", choices=drivers, default=_UNKNOWN)
        flags.gpu_driver = None if driver == _UNKNOWN else driver
    if flags.cluster is None:
        flags.cluster = Prompt.ask("Which cluster?", choices=["new", "existing"], default="new")
    if flags.region is None and flags.cluster == "new":
        flags.region = Prompt.ask("Region", choices=sorted(REGIONS), default=Answers.region, show_choices=False)


def _has_drivers(flags: argparse.Namespace) -> bool:
    """True if the machines have GPUs, which need a driver. An unknown size is refused by the decision."""
    size = usual_size(flags.workload, flags.gpus) if flags.size is None else SIZES.get(flags.size)
    return size is not None and size.accelerator is not None


class _Workloads(Prompt):
    """Prompts for one workload or several."""

    def process_response(self, value: str) -> str:
        """Their names, with commas and nothing else. Raises InvalidResponse, and the prompt appears again, for one not
        known.
        """
        named = [word.strip() for word in value.split(",")]
        if not {*named} <= {*get_args(Workload)}:
            raise InvalidResponse(f"[prompt.invalid.choice]Choose among {', '.join(get_args(Workload))}")
        return ",".join(named)


def _positive(text: str) -> int:
    most = MOST_NODES * _MOST_GPUS
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 to {most:,}")
    return int(text)


INIT: Final = Command(
    name="init",
    help="choose the way to InfiniBand that fits, and write the stack file",
    description="Says which way to InfiniBand fits a workload, why, and at what price; writes a stack file for it.",
    example="aks-infiniband init --workload training --gpus 32",
    declare=declare,
    run=init,
)
