"""Waiting for the operations of Azure."""

from aks_infiniband_cli.azure.cluster import ENDED, Aks, Operation
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.validate.run import until


def wait(operation: Operation, what: str) -> None:
    """Wait until a request has been carried out. Raises CommandError if it failed. what: is upgraded by it."""
    until(lambda: True if operation.done() else None)
    if failure := operation.failure():
        raise CommandError(f"the upgrade of {what} ended: {failure}")


def quieten(aks: Aks, pool: str, *, abort: bool) -> None:
    """Wait until nothing is under way on a pool; abort: end what is."""
    if aks.state(pool) in ENDED:
        return
    if abort:
        aks.abort(pool)
    until(lambda: True if aks.state(pool) in ENDED else None)
