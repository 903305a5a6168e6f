"""Operating systems and images that a machine can run."""

import re
from collections.abc import Iterator
from typing import Final

from aks_infiniband.facts.kubernetes import UBUNTU_2204_UNTIL, UBUNTU_2404, UBUNTU_IS_2404_SINCE
from aks_infiniband.stack.settings.consistency.seen import Inconsistency, Seen, SeenPool

_NAMED: Final = {"amd64": "amd64", "x86_64": "amd64", "x86-64": "amd64", "arm64": "arm64", "aarch64": "arm64"}
"""How an image's name or tag tells the one architecture that it is built for."""


def check(seen: Seen) -> Iterator[Inconsistency]:
    """OS SKUs of pools that are made in Azure; images by their name's word."""
    if seen.in_azure:
        for pool in seen.pools:
            yield from _os_sku(seen, pool)
        yield from _one_system(seen)
    yield from _architectures(seen)


def _os_sku(seen: Seen, pool: SeenPool) -> Iterator[Inconsistency]:
    sku, version = pool.os_sku, seen.kubernetes
    if sku is None or version is None:
        return
    written = f"{version[0]}.{version[1]}"
    is_2404 = _is_2404(sku, version)
    if sku == "Ubuntu2404" and version < UBUNTU_2404[0]:
        yield from _too_old(seen, pool, written)
    elif sku == "Ubuntu2204" and version > UBUNTU_2204_UNTIL:
        yield Inconsistency(pool.path("osSku"), sku, f"must be Ubuntu2404 or Ubuntu with Kubernetes {written}")
    elif pool.size is not None and pool.size.architecture == "arm64" and sku != "Ubuntu2404":
        reason = f"must be Ubuntu2404 for {pool.given.vm_size}: its drivers are built for no other"
        yield Inconsistency(pool.path("osSku"), sku, reason)
    elif pool.infiniband and pool.nic_driver == "inbox" and not is_2404:
        is_2204 = f"Ubuntu is 22.04 with Kubernetes {written}" if sku == "Ubuntu" else "Ubuntu2204 is older"
        reason = f"must be Ubuntu2404 with the inbox driver, which is that of Ubuntu 24.04's kernel ({is_2204})"
        yield Inconsistency(pool.path("osSku"), sku, reason)


def _one_system(seen: Seen) -> Iterator[Inconsistency]:
    """The GPU Operator asks one GPU node for its system, and gives all of them the driver of that (NVIDIA/gpu-operator
    v26.3.3, controllers/state_manager.go).
    """
    pools = [pool for pool in seen.infiniband_pools if pool.gpu_driver == "operator" and pool.os_sku is not None]
    for pool in pools[1:]:
        sku, first = pool.os_sku, pools[0].os_sku
        if seen.kubernetes is not None and _is_2404(sku, seen.kubernetes) != _is_2404(first, seen.kubernetes):
            reason = f"must be of the same Ubuntu as pool {pools[0].name} ({first}), because the GPU Operator installs "
            yield Inconsistency(pool.path("osSku"), sku, f"{reason}the driver of one on all GPU nodes")


def _is_2404(sku: str | None, version: tuple[int, int]) -> bool:
    return sku == "Ubuntu2404" or (sku == "Ubuntu" and version >= UBUNTU_IS_2404_SINCE)


def _too_old(seen: Seen, pool: SeenPool, written: str) -> Iterator[Inconsistency]:
    since = ".".join(map(str, UBUNTU_2404[0]))
    if pool.given.os_sku is not None:
        reason = f"needs Kubernetes {since} or later; the cluster has {written}"
        yield Inconsistency(pool.path("osSku"), pool.given.os_sku, reason)
    elif seen.cluster is not None:
        reason = f"must be {since} or later: pool {pool.name} needs Ubuntu2404, which AKS has for no older Kubernetes"
        yield Inconsistency(("cluster", "kubernetesVersion"), seen.cluster.kubernetes_version, reason)


def _architectures(seen: Seen) -> Iterator[Inconsistency]:
    validation, operator, gpu = seen.settings.validation, seen.network_operator, seen.settings.gpu_operator
    nvidia = [pool for pool in seen.infiniband_pools if pool.nic_driver == "doca-ofed"]
    gpus = [pool for pool in seen.infiniband_pools if pool.gpu_driver == "operator"]
    checked = list(seen.infiniband_pools) if validation and validation.mode != "off" else []
    images = (
        (("validation", "image"), validation and validation.image, checked),
        (("networkOperator", "driverVersion"), operator and operator.driver_version, nvidia),
        (("gpuOperator", "driverVersion"), gpu and gpu.driver_version, gpus),
    )
    for path, image, pools in images:
        named = re.search(rf"(?<![a-z0-9])({'|'.join(_NAMED)})(?![a-z0-9])", image or "")
        for pool in pools:
            if named and pool.size is not None and pool.size.architecture != _NAMED[named[1]]:
                yield Inconsistency(
                    path,
                    image,
                    f"is built for {_NAMED[named[1]]}, and pool {pool.name} ({pool.given.vm_size}) is "
                    f"{pool.size.architecture}: give one that is built for both",
                )
                break
