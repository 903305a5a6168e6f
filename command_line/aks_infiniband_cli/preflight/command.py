"""The command preflight: its flags, and its lines for a pipe and a terminal."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from rich.console import Group

from aks_infiniband_cli.console import FINE, FOUND, Answer, Command, at_work, stack_name, uncut

if TYPE_CHECKING:  # importing it takes a second, and the Azure clients are an extra
    from aks_infiniband_cli.preflight.checks import Line

_STYLES: Final = {"pass": "green", "fail": "bold red", "not checked": "yellow"}


def declare_stack(parser: argparse.ArgumentParser) -> None:
    """Add the flags that name a stack and its subscription."""
    parser.add_argument("-s", "--stack", required=True, type=stack_name, metavar="NAME", help="reads Pulumi.NAME.yaml")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="folder of the stack file; default: the current folder"
    )
    parser.add_argument("--subscription", metavar="ID", help="default: the stack's, or $ARM_SUBSCRIPTION_ID")
    endpoint = "of Azure Resource Manager; default: of the stack's cloud"
    parser.add_argument("--endpoint", type=url, metavar="URL", help=endpoint)


def url(text: str) -> str:
    """Azure's clients hand a login to https alone."""
    try:
        parts = urlsplit(text)
        whole = parts.scheme == "https" and parts.hostname and parts.port != 0 and not parts.query
    except ValueError:
        whole = None
    if not whole or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(f"{text!r} must be an https:// URL, such as https://management.azure.com")
    return text.rstrip("/")


def run(given: argparse.Namespace) -> Answer:
    """Check; the exit code is FOUND where a line fails."""
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
