"""The command teardown: its flags, and what it prints."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aks_infiniband.terminal import one_line
from rich.text import Text

from aks_infiniband_cli.azure.flags import declare_stack
from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, lines_of, uncut

if TYPE_CHECKING:  # importing it takes two seconds
    from aks_infiniband_cli.teardown.left import Leftovers


def teardown(flags: argparse.Namespace) -> Answer:
    """Look for what is left. The exit code is FOUND if something is left."""
    with at_work("Looking for what is left"):
        from aks_infiniband_cli.teardown.leftovers import find_leftovers  # noqa: PLC0415 it imports an extra, and takes two seconds

        file: Path = flags.folder / f"Pulumi.{flags.stack}.yaml"
        leftovers = find_leftovers(file, flags.subscription, flags.endpoint)
    document = {
        "stack": flags.stack,
        "where": leftovers.where,
        "lives": leftovers.lives,
        "left": [vars(orphan) for orphan in leftovers.left],
    }
    if leftovers.lives is None:
        lines = [*_left(leftovers)] or lines_of(
            (f"Nothing of stack {flags.stack} is left in {leftovers.where}.", "green")
        )
    else:
        lines = lines_of(*((line, "yellow") for line in _lives(flags.stack, leftovers)))
    fine = leftovers.lives is None and not leftovers.left
    return Answer(document=document, lines=lines, exit_code=FINE if fine else FOUND)


def _left(leftovers: "Leftovers") -> Iterator[Text]:
    for orphan in leftovers.left:
        yield uncut(("left  ", "bold red"), one_line(orphan.what))
        yield uncut(f"      remove: {one_line(orphan.remedy)}")


def _lives(stack: str, leftovers: "Leftovers") -> Iterator[str]:
    """Its state removes all of it at once, and in the right order."""
    yield f"Stack {stack} lives: {leftovers.lives} is there, in {leftovers.where}. Nothing of it is left over."
    yield f"To take it away: pulumi destroy --stack {stack}"
    count = len(leftovers.left)
    yield f"If its state is lost: --output json lists {count} things, each with the command that removes it."


TEARDOWN: Final = Command(
    name="teardown",
    help="after destroy, name what is left of a stack and the command that removes it",
    description="Looks in Azure, or in the existing cluster, for what a destroyed stack has left. The command changes "
    "nothing.",
    example="aks-infiniband teardown -s dev",
    declare=declare_stack,
    run=teardown,
    extra="azure",
)
