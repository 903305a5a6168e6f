"""A GPU Operator that is there already: the settings that have no effect then, because nothing is installed."""

from collections.abc import Iterator

from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import Reading, known


def _existing(reading: Reading) -> Iterator[Mistake]:
    given, path = reading.settings.gpu_operator, "gpuOperator"
    if not given.existing:
        return
    if not reading.in_existing:
        reason = "is for existingCluster: a cluster that the program makes has no GPU Operator; leave it out"
        yield wrong((path, "existing"), True, reason)
    for key, value in given.given("chart", "values", "driver_version", "accept_visible_devices_envvar", "values_file"):
        if value is not None:
            yield wrong(
                (path, key), value, "says nothing beside existing: true, because nothing is installed; leave it out"
            )
    pools = known(reading.infiniband_pools, lambda pool: (pool.size.accelerator, pool.gpu_driver))
    if pools and not any(gpus and gpus.vendor == "nvidia" and owner != "none" for _, (gpus, owner) in pools):
        reason = (
            "says nothing: no pool has GPUs of NVIDIA whose driver the operator or AKS owns; leave it out, or set "
            "gpuDriver"
        )
        yield wrong((path, "existing"), True, reason)


STACK = (_existing,)
POOL = ()
