"""The command preflight: its flags, and its lines for a pipe and a terminal."""

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich.console import Group

from aks_infiniband_cli.azure.flags import declare_stack
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, uncut

if TYPE_CHECKING:  # importing it takes a second, and the Azure clients are an extra
    from aks_infiniband_cli.preflight.checks import Line

_STYLES: Final = {"pass": "green", "fail": "bold red", "not checked": "yellow"}


def run(given: argparse.Namespace) -> Answer:
    """Check; the exit code is FOUND if a line fails."""
    with at_work("Asking Azure"):
        from aks_infiniband_cli.preflight.all_checks import look  # noqa: PLC0415 it takes two seconds

        lines = look(given.folder / f"Pulumi.{given.stack}.yaml", given.subscription, given.endpoint)
    return Answer(
        document={"stack": given.stack, "checks": [vars(line) for line in lines]},
        text="\n".join(plain(lines)),
        shown=shown(lines),
        exit_code=FOUND if any(line.state == "fail" for line in lines) else FINE,
    )


def plain(lines: "Sequence[Line]") -> Iterator[str]:
    """One line for each check, and what to do below it."""
    for line in lines:
        yield f"{line.state:<11}  {line.check}: {line.found}"
        if line.remedy:
            yield f"{'':<11}  do: {line.remedy}"


def shown(lines: "Sequence[Line]") -> Group:
    """For a terminal: the same, with the state in colour."""
    width = max(map(len, _STYLES))
    parts = []
    for line in lines:
        state = (f"{line.state:<{width}}", _STYLES[line.state])
        parts.append(uncut(state, "  ", (line.check, "bold"), f": {line.found}"))
        if line.remedy:
            parts.append(uncut(" " * width, "  do: ", (line.remedy, "italic")))
    return Group(*parts)


PREFLIGHT: Final = Command(
    name="preflight",
    help="check what Azure would refuse, before any money is spent",
    description="Checks a stack file, and what it needs of Azure: login, providers, feature, sizes, quota, versions, "
    "addresses; and of registries of images. The command changes nothing.",
    example="aks-infiniband preflight -s dev",
    declare=declare_stack,
    run=run,
    extra="azure",
)
