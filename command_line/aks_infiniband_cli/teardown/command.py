"""The command teardown: its flags, and what it prints."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aks_infiniband.terminal import one_line
from rich.console import Group

from aks_infiniband_cli.azure.flags import declare_stack
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, uncut

if TYPE_CHECKING:  # importing it takes two seconds
    from aks_infiniband_cli.teardown.left import Found


def run(given: argparse.Namespace) -> Answer:
    """Look for what is left. The exit code is FOUND if something is left."""
    with at_work("Looking for what is left"):
        from aks_infiniband_cli.teardown.leftovers import look  # noqa: PLC0415 it imports an extra, and takes two seconds

        file: Path = given.folder / f"Pulumi.{given.stack}.yaml"
        found = look(file, given.subscription, given.endpoint)
    document = {
        "stack": given.stack,
        "where": found.where,
        "lives": found.lives,
        "left": [vars(orphan) for orphan in found.left],
    }
    if found.lives is not None:
        lives = _lives(given.stack, found)
        return Answer(document=document, text=lives, shown=uncut((lives, "yellow")), exit_code=FOUND)
    clean = f"Nothing of stack {given.stack} is left in {found.where}."
    left = [(one_line(orphan.what), one_line(orphan.remedy)) for orphan in found.left]
    shown = [uncut(("left  ", "bold red"), what, "\n      remove: ", remedy) for what, remedy in left]
    lines = [line for what, remedy in left for line in (f"left  {what}", f"      remove: {remedy}")]
    return Answer(
        document=document,
        text="\n".join(lines) if left else clean,
        shown=Group(*shown) if left else uncut((clean, "green")),
        exit_code=FOUND if left else FINE,
    )


def _lives(stack: str, found: "Found") -> str:
    """Its state removes all of it at once, and in the right order."""
    return (
        f"Stack {stack} lives: {one_line(found.lives or '')} is there, in {found.where}. Nothing of it is left over.\n"
        f"To take it away: pulumi destroy --stack {stack}\n"
        f"If its state is lost: --output json lists {len(found.left)} things, each with the command that removes it."
    )


TEARDOWN: Final = Command(
    name="teardown",
    help="after destroy, name what is left of a stack and the command that removes it",
    description="Looks in Azure, or in the existing cluster, for what a destroyed stack has left. The command changes "
    "nothing.",
    example="aks-infiniband teardown -s dev",
    declare=declare_stack,
    run=run,
    extra="azure",
)
