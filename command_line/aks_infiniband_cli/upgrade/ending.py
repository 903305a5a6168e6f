"""The ways to stop, continue or take back an upgrade."""

from collections.abc import Mapping, Sequence

from lightkube import Client

from aks_infiniband_cli.azure.cluster import ENDED, Aks, PoolThere
from aks_infiniband_cli.console import CommandError
from aks_infiniband_cli.upgrade import hold
from aks_infiniband_cli.upgrade.operations import quieten, wait
from aks_infiniband_cli.validate.run import Say


def stop(aks: Aks, client: Client, pools: Mapping[str, PoolThere], namespace: str) -> list[str]:
    """End what is under way on pools, and have the command that does it end; those that it was under way on."""
    stopped = []
    for name, pool in pools.items():
        hold.ask_to_stop(client, name, namespace, stop=True)
        if pool.state not in ENDED:
            aks.abort(name)
            stopped.append(name)
    return stopped


def release(client: Client, pools: Sequence[str], namespace: str) -> list[str]:
    """Release the machines of pools that are held; their names."""
    return [node for name in pools for node in hold.release(client, name, namespace)]


def held_pools(client: Client, pools: Sequence[str], namespace: str) -> list[str]:
    """The pools with machines that are held. Raises CommandError if there are none."""
    found = [name for name in pools if hold.held_nodes(client, name, namespace)]
    if not found:
        raise CommandError("no machine is held: --pool says which pool is to go back")
    return found


def back(aks: Aks, client: Client, pools: Sequence[str], namespace: str, say: Say) -> list[str]:
    """Roll pools back to what they had before; what they have now. Raises CommandError if Azure cannot."""
    told = []
    for name in pools:
        before = aks.next_of(name).before
        if before is None:
            raise CommandError(
                f"Azure has nothing to roll pool {name} back to: it keeps that for seven days after an upgrade"
            )
        quieten(aks, name, abort=True)
        hold.release(client, name, namespace)
        say(f"Pool {name}: rolling back to {' and '.join(before)}")
        wait(aks.upgrade_pool(name, *before), f"pool {name}")
        told.append(f"pool {name} has Kubernetes {before[0]} and {before[1]} again")
    return told
