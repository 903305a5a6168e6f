"""Mode dra: the rules for what dranet needs of a pool's machines."""

from collections.abc import Iterator

from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading


def _inbox(pool: PoolReading) -> Iterator[Mistake]:
    """Dranet reads which devices are RDMA devices when it starts. OFED, which reloads their driver later, leaves rdma
    false in what it publishes (kubernetes-sigs/dranet issue 51). Kubernetes 1.35 and with it containerd 2 follow: the
    inbox driver needs Ubuntu 24.04.
    """
    if pool.infiniband and ACCESS[pool.facts.mode].claims and pool.facts.nic_driver != "inbox":
        reason = (
            "must be inbox in mode dra: dranet does not see HCAs again whose driver OFED has reloaded; or take the "
            "mode sriov, which gives each pod separate HCAs too"
        )
        yield wrong(pool.path("nicDriver"), pool.facts.nic_driver, reason)


STACK = ()
POOL = (_inbox,)
