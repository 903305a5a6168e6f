"""The ways to stop, continue or take back an upgrade."""

from collections.abc import Mapping, Sequence

from aks_infiniband_cli.azure.cluster import ENDED, Aks, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.machine_by_machine.upgrade.hold import Holds
from aks_infiniband_cli.machine_by_machine.upgrade.operations import quieten, wait
from aks_infiniband_cli.validate.run import Say


def stop(aks: Aks, holds: Sequence[Holds], pools: Mapping[str, PoolThere]) -> list[str]:
    """End what is under way on pools, and have the command that does it end; those that it was under way on."""
    for each in holds:
        each.request_stop(stop=True)
    stopped = [name for name, pool in pools.items() if pool.state not in ENDED]
    for name in stopped:
        aks.abort(name)
    return stopped


def back(aks: Aks, holds: Sequence[Holds], say: Say) -> list[str]:
    """Roll pools back to what they had before; what they have now. Raises CommandError if Azure cannot."""
    now = []
    for each in holds:
        before = aks.next_of(each.pool).before
        if before is None:
            raise CommandError(
                f"Azure has nothing to roll pool {each.pool} back to: it keeps that for seven days after an upgrade"
            )
        quieten(aks, each.pool, abort=True)
        each.release()
        say(f"Pool {each.pool}: rolling back to {' and '.join(before)}")
        wait(aks.upgrade_pool(each.pool, *before), f"pool {each.pool}")
        now.append(f"pool {each.pool} has Kubernetes {before[0]} and {before[1]} again")
    return now
