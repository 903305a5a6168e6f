"""The command preflight: its flags, and its answer."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.text import Text

from aks_infiniband_cli.azure.flags import declare_stack
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, uncut

if TYPE_CHECKING:  # importing it takes a second, and the Azure clients are an extra
    from aks_infiniband_cli.preflight.checks import Line

_STYLES: Final = {"pass": "green", "fail": "bold red", "not checked": "yellow"}


def preflight(flags: argparse.Namespace) -> Answer:
    """Check what Azure would refuse."""
    with at_work("Asking Azure"):
        from aks_infiniband_cli.preflight.all_checks import check_stack_file  # noqa: PLC0415 it takes two seconds

        lines = check_stack_file(flags.folder / f"Pulumi.{flags.stack}.yaml", flags.subscription, flags.endpoint)
    return answer(flags.stack, lines)


def answer(stack: str, lines: "Sequence[Line]") -> Answer:
    """Each check, and what to do if it fails. FOUND if one fails."""
    return Answer(
        document={"stack": stack, "checks": [vars(line) for line in lines]},
        lines=[part for line in lines for part in _lines(line)],
        exit_code=FOUND if any(line.state == "fail" for line in lines) else FINE,
    )


def _lines(line: "Line") -> Iterator[Text]:
    """A check, and what to do below it."""
    yield uncut((f"{line.state:<11}", _STYLES[line.state]), "  ", (line.check, "bold"), f": {line.found}")
    if line.remedy:
        yield uncut(f"{'':<11}  do: ", (line.remedy, "italic"))


PREFLIGHT: Final = Command(
    name="preflight",
    help="check what Azure would refuse, before any money is spent",
    description="Checks a stack file, and what it needs of Azure: login, providers, feature, sizes, quota, versions, "
    "addresses; and of registries of images. The command changes nothing.",
    example="aks-infiniband preflight -s dev",
    declare=declare_stack,
    run=preflight,
    extra="azure",
)
