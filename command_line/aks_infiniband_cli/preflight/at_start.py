"""The preflight at the start of `pulumi up`: the command's own checks, before anything is made."""

from pathlib import Path

import pulumi
from aks_infiniband.stack.load import stack_configuration
from aks_infiniband.stack.stack import Stack
from aks_infiniband.terminal import printable

from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.preflight.command import answer


class PreflightError(pulumi.RunError):
    """Checks fail, or nothing can be checked; the text says which, and what to do."""


def check_first(stack: Stack) -> None:
    """Check the stack that runs; at preview nothing is checked, because nothing is made.

    Raises PreflightError with the lines that fail. The others are logged as information.
    """
    if pulumi.runtime.is_dry_run():
        return
    try:
        from aks_infiniband_cli.preflight.all_checks import check_stack  # noqa: PLC0415 Azure's clients are an extra
    except ModuleNotFoundError as error:
        raise PreflightError(f"aks-infiniband:preflight: {error}: pip install './command_line[azure]'") from error
    try:
        lines = check_stack(stack, Path(), stack_configuration(), None, None)
    except CommandError as error:
        raise PreflightError(f"aks-infiniband:preflight: {error}") from error
    failing = [line for line in lines if line.state == "fail"]
    told = printable(answer(pulumi.get_stack(), failing or lines).text)
    if failing:
        found = f"{len(failing)} of {len(lines)} checks fail, and nothing was changed"
        raise PreflightError(f"aks-infiniband:preflight: {found}:\n{told}")
    pulumi.log.info(f"aks-infiniband:preflight: no check fails\n{told}")
