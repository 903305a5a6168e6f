"""AMD's GPUs: what their operator needs to build a driver, and what says nothing without it."""

from collections.abc import Iterator

from aks_infiniband.facts.amd import AMD_KUBERNETES
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known

_PATH = "amdGpuOperator"


def managed(pool: PoolReading) -> bool:
    """True if the pool has GPUs of AMD with an owner of their driver. Raises Unreadable for an unknown size."""
    gpus = pool.facts.size.accelerator
    return gpus is not None and gpus.software == "rocm" and pool.facts.gpu_driver != "none"


def _built(reading: Reading) -> list[PoolReading]:
    """The pools whose driver the operator builds."""
    owned = known(reading.infiniband_pools, lambda pool: managed(pool) and pool.facts.gpu_driver == "operator")
    return [pool for pool, built in owned if built]


def _driver_image(reading: Reading) -> Iterator[Mistake]:
    settings, built = reading.settings.amd_gpu_operator, _built(reading)
    if built and settings.driver_image is None:
        reason = (
            f"is missing: for gpuDriver operator of pool {built[0].name} AMD's operator builds the driver in the "
            "cluster, and needs a repository to push it to and to pull it from, such as "
            "myregistry.azurecr.io/amd/amdgpu-kmod; or give nodes that have the driver, and gpuDriver image"
        )
        yield wrong((_PATH, "driverImage"), None, reason)
    if built:
        return
    for key, value in settings.given("driver_image", "driver_version"):
        if value is not None:
            yield wrong((_PATH, key), value, "says nothing: no pool of AMD's GPUs has gpuDriver operator; leave it out")


def _says_nothing(reading: Reading) -> Iterator[Mistake]:
    """Settings of what is not installed."""
    pools = known(reading.infiniband_pools, managed)
    if len(pools) == len(reading.pools) and not any(here for _, here in pools):
        for key, value in reading.settings.amd_gpu_operator.given("values", "remediation", "device_config"):
            reason = "says nothing: no pool has GPUs of AMD and a gpuDriver for them; leave it out"
            yield wrong((_PATH, key), value or None, reason)
    if len(pools) == len(reading.pools) and not _built(reading):
        for key, value in reading.settings.cert_manager.given("values", "existing"):
            reason = "says nothing: only a driver that AMD's operator builds needs cert-manager; leave it out"
            yield wrong(("certManager", key), value if isinstance(value, bool) else value or None, reason)


def _existing(reading: Reading) -> Iterator[Mistake]:
    if reading.settings.cert_manager.existing and not reading.in_existing:
        reason = "is for existingCluster: a cluster that the program makes has none; leave it out"
        yield wrong(("certManager", "existing"), True, reason)


def _kubernetes(reading: Reading) -> Iterator[Mistake]:
    oldest, _ = AMD_KUBERNETES
    if reading.in_azure and reading.kubernetes < oldest and any(here for _, here in known(reading.pools, managed)):
        reason = f"must be {'.'.join(map(str, oldest))} or later: AMD's chart refuses older ones"
        yield wrong(("cluster", "kubernetesVersion"), reading.cluster.kubernetes_version, reason)


STACK = (_driver_image, _says_nothing, _existing, _kubernetes)
POOL = ()
