"""Operators that exist already: the settings that do nothing then, because nothing is installed."""

from collections.abc import Iterator

from aks_infiniband.facts.modes import ACCESS
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.operators import GpuOperatorSettings, NetworkOperatorSettings
from aks_infiniband.stack.settings.reading import Reading, known


def _network(reading: Reading) -> Iterator[Mistake]:
    settings = reading.settings.network_operator
    if not settings.existing:
        return
    yield from _installs_nothing(reading, settings, "networkOperator", "Network Operator")
    modes = known(reading.infiniband_pools, lambda pool: pool.facts.mode)
    if any(ACCESS[mode].networks for _, mode in modes):
        reason = (
            "does not go with mode ipoib, whose addresses NV-IPAM gives out of objects in its operator's namespace; "
            "set the mode to rdma-shared, or let this program install the operator"
        )
        yield wrong(("networkOperator", "existing"), True, reason)


def _gpus(reading: Reading) -> Iterator[Mistake]:
    settings = reading.settings.gpu_operator
    if not settings.existing:
        return
    yield from _installs_nothing(reading, settings, "gpuOperator", "GPU Operator", "accept_visible_devices_envvar")
    pools = known(reading.infiniband_pools, lambda pool: (pool.facts.size.accelerator, pool.facts.gpu_driver))
    if pools and not any(gpus and gpus.vendor == "nvidia" and owner != "none" for _, (gpus, owner) in pools):
        reason = (
            "says nothing: no pool has GPUs of NVIDIA whose driver the operator or AKS owns; leave it out, or set "
            "gpuDriver"
        )
        yield wrong(("gpuOperator", "existing"), True, reason)


def _installs_nothing(
    reading: Reading, settings: NetworkOperatorSettings | GpuOperatorSettings, path: str, operator: str, *more: str
) -> Iterator[Mistake]:
    """The keys that every operator's section must leave out with existing: true. more: fields that this operator alone
    has.
    """
    if not reading.in_existing:
        reason = f"is for existingCluster: a cluster that the program makes has no {operator}; leave it out"
        yield wrong((path, "existing"), True, reason)
    for key, value in settings.given("chart", "values", "driver_version", *more, "values_file"):
        if value is not None:
            reason = "does nothing with existing: true, because nothing is installed; leave it out"
            yield wrong((path, key), value, reason)


STACK = (_network, _gpus)
POOL = ()
