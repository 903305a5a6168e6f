"""A Network Operator that is there already: the settings that have no effect then, because nothing is installed."""

from collections.abc import Iterator

from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import Reading, known


def _existing(reading: Reading) -> Iterator[Mistake]:
    given, path = reading.settings.network_operator, "networkOperator"
    if not given.existing:
        return
    if not reading.in_existing:
        reason = "is for existingCluster: a cluster that the program makes has no Network Operator; leave it out"
        yield wrong((path, "existing"), True, reason)
    for key, value in given.given("chart", "values", "driver_version", "values_file"):
        if value is not None:
            yield wrong(
                (path, key), value, "says nothing beside existing: true, because nothing is installed; leave it out"
            )
    if any(mode == "ipoib" for _, mode in known(reading.infiniband_pools, lambda pool: pool.mode)):
        reason = (
            "does not go with mode ipoib, whose addresses NV-IPAM gives out of objects in its operator's namespace; "
            "set the mode to rdma-shared, or let this program install the operator"
        )
        yield wrong((path, "existing"), True, reason)


STACK = (_existing,)
POOL = ()
