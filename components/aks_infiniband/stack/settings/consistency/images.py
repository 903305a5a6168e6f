"""Operating systems and images that a machine can run."""

import re
from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.kubernetes import UBUNTU_2204_UNTIL, UBUNTU_2404, UBUNTU_IS_2404_SINCE
from aks_infiniband.stack.settings.reading import Inconsistency, PoolReading, Reading, known

_NAMED: Final = {"amd64": "amd64", "x86_64": "amd64", "x86-64": "amd64", "arm64": "arm64", "aarch64": "arm64"}
"""How an image's name or tag tells the one architecture that it is built for."""


def _os_sku(pool: PoolReading) -> Iterator[Inconsistency]:
    if not pool.stack.in_azure:
        return
    sku, version = pool.os_sku, pool.stack.kubernetes
    written = f"{version[0]}.{version[1]}"
    if sku == "Ubuntu2404" and version < UBUNTU_2404[0]:
        yield _too_old(pool, written)
    elif sku == "Ubuntu2204" and version > UBUNTU_2204_UNTIL:
        yield Inconsistency(pool.path("osSku"), sku, f"must be Ubuntu2404 or Ubuntu with Kubernetes {written}")
    elif not pool.infiniband:
        return
    elif pool.size.architecture == "arm64" and sku != "Ubuntu2404":
        reason = f"must be Ubuntu2404 for {pool.given.vm_size}: its drivers are built for no other"
        yield Inconsistency(pool.path("osSku"), sku, reason)
    elif pool.nic_driver == "inbox" and not _is_2404(sku, version):
        is_2204 = f"Ubuntu is 22.04 with Kubernetes {written}" if sku == "Ubuntu" else "Ubuntu2204 is older"
        reason = f"must be Ubuntu2404 with the inbox driver, which is that of Ubuntu 24.04's kernel ({is_2204})"
        yield Inconsistency(pool.path("osSku"), sku, reason)


def _one_system(reading: Reading) -> Iterator[Inconsistency]:
    """The GPU Operator asks one GPU node for its system, and gives all of them the driver of that (NVIDIA/gpu-operator
    v26.3.3, controllers/state_manager.go).
    """
    if not reading.in_azure:
        return
    version = reading.kubernetes
    found = known(reading.infiniband_pools, lambda pool: (pool.gpu_driver, pool.os_sku))
    pools = [(pool, sku) for pool, (owner, sku) in found if owner == "operator"]
    for pool, sku in pools[1:]:
        other, first = pools[0]
        if _is_2404(sku, version) != _is_2404(first, version):
            reason = f"must be of the same Ubuntu as pool {other.name} ({first}), because the GPU Operator installs "
            yield Inconsistency(pool.path("osSku"), sku, f"{reason}the driver of one on all GPU nodes")


def _is_2404(sku: str, version: tuple[int, int]) -> bool:
    return sku == "Ubuntu2404" or (sku == "Ubuntu" and version >= UBUNTU_IS_2404_SINCE)


def _too_old(pool: PoolReading, written: str) -> Inconsistency:
    since = ".".join(map(str, UBUNTU_2404[0]))
    if pool.given.os_sku is not None:
        reason = f"needs Kubernetes {since} or later; the cluster has {written}"
        return Inconsistency(pool.path("osSku"), pool.given.os_sku, reason)
    reason = f"must be {since} or later: pool {pool.name} needs Ubuntu2404, which AKS has for no older Kubernetes"
    cluster = pool.stack.settings.cluster
    return Inconsistency(("cluster", "kubernetesVersion"), cluster and cluster.kubernetes_version, reason)


def _validation_image(reading: Reading) -> Iterator[Inconsistency]:
    if reading.settings.validation.mode != "off":
        image = reading.settings.validation.image
        yield from _architecture(("validation", "image"), image, reading.infiniband_pools)


def _nic_driver_image(reading: Reading) -> Iterator[Inconsistency]:
    asked = known(reading.infiniband_pools, lambda pool: pool.nic_driver)
    version = reading.settings.network_operator.driver_version
    pools = [pool for pool, driver in asked if driver == "doca-ofed"]
    yield from _architecture(("networkOperator", "driverVersion"), version, pools)


def _gpu_driver_image(reading: Reading) -> Iterator[Inconsistency]:
    asked = known(reading.infiniband_pools, lambda pool: pool.gpu_driver)
    version = reading.settings.gpu_operator.driver_version
    pools = [pool for pool, driver in asked if driver == "operator"]
    yield from _architecture(("gpuOperator", "driverVersion"), version, pools)


def _architecture(path: tuple[str, ...], image: str | None, pools: list[PoolReading]) -> Iterator[Inconsistency]:
    """An image is known by its name's word; at most one inconsistency, for the first pool that cannot run it."""
    named = re.search(rf"(?<![a-z0-9])({'|'.join(_NAMED)})(?![a-z0-9])", image or "")
    for pool, size in known(pools, lambda pool: pool.size):
        if named and size.architecture != _NAMED[named[1]]:
            yield Inconsistency(
                path,
                image,
                f"is built for {_NAMED[named[1]]}, and pool {pool.name} ({size.name}) is "
                f"{size.architecture}: give one that is built for both",
            )
            return


STACK = (_one_system, _validation_image, _nic_driver_image, _gpu_driver_image)
POOL = (_os_sku,)
