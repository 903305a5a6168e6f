"""The command teardown: its flags, and what it prints."""

import argparse
from pathlib import Path
from typing import Final

from aks_infiniband.terminal import one_line
from rich.console import Group

from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, uncut
from aks_infiniband_cli.preflight.command import declare_stack


def run(given: argparse.Namespace) -> Answer:
    """Look for what is left. The exit code is FOUND where something is."""
    with at_work("Looking for what is left"):
        from aks_infiniband_cli.teardown.looking import look  # noqa: PLC0415 it imports an extra, and takes two seconds

        file: Path = given.folder / f"Pulumi.{given.stack}.yaml"
        where, orphans = look(file, given.subscription, given.endpoint)
    clean = f"Nothing of stack {given.stack} is left in {where}."
    left = [(one_line(orphan.what), one_line(orphan.remedy)) for orphan in orphans]
    shown = [uncut(("left  ", "bold red"), what, "\n      remove: ", remedy) for what, remedy in left]
    lines = [line for what, remedy in left for line in (f"left  {what}", f"      remove: {remedy}")]
    return Answer(
        document={"stack": given.stack, "where": where, "left": [vars(orphan) for orphan in orphans]},
        text="\n".join(lines) if orphans else clean,
        shown=Group(*shown) if orphans else uncut((clean, "green")),
        exit_code=FOUND if orphans else FINE,
    )


TEARDOWN: Final = Command(
    name="teardown",
    help="after destroy, name what is left of a stack and the command that removes it",
    description="Looks in Azure, or in the existing cluster, for what a destroyed stack has left. It changes nothing.",
    example="aks-infiniband teardown -s dev",
    declare=declare_stack,
    run=run,
    extra="azure",
)
