"""The GPUs of pools: who owns their driver, and how HCAs reach them. The requirements of AMD's operator have their own
topic.
"""

from collections.abc import Iterator

from aks_infiniband.azure import fabric
from aks_infiniband.facts.systems import systems_of
from aks_infiniband.stack.settings.consistency.images import architecture
from aks_infiniband.stack.settings.mistakes import Mistake, wrong
from aks_infiniband.stack.settings.reading import PoolReading, Reading, known, unlike_the_first


def _owner(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.infiniband or pool.facts.gpu_driver == "none":
        return
    owner, gpus = pool.facts.gpu_driver, pool.facts.size.accelerator
    if reason := fabric.gpu_driver(owner, pool.facts.size):
        yield wrong(pool.path("gpuDriver"), owner, reason)
    elif gpus is not None and not gpus.dma_buf and pool.facts.nic_driver == "inbox":
        reason = (
            f"must be doca-ofed for {gpus.model}: the inbox driver reaches GPUs by DMA-BUF, which needs newer ones, "
            "and every message would go through the host's memory"
        )
        yield wrong(pool.path("nicDriver"), "inbox", reason)


def _owned(pool: PoolReading) -> bool:
    """True if the pool has GPUs that the GPU Operator makes usable, and an owner of their driver."""
    gpus = pool.facts.size.accelerator
    return gpus is not None and gpus.software == "gpu-operator" and pool.facts.gpu_driver != "none"


def _by_nvidias_operator(pool: PoolReading) -> bool:
    """True if NVIDIA's GPU Operator installs its GPUs' driver."""
    return pool.facts.gpu_driver == "operator" and _owned(pool)


def _one_owner(reading: Reading) -> Iterator[Mistake]:
    """Driver, toolkit and runtime class are one for each GPU Operator, and there is one (field reports, A4)."""
    owned = [pool for pool, owned in known(reading.infiniband_pools, _owned) if owned]
    for pool, owner, first, wanted in unlike_the_first([(pool, pool.facts.gpu_driver) for pool in owned]):
        reason = (
            f"must be {wanted}, as pool {first.name} has it: a cluster has one owner of GPU drivers, and two break the "
            "nodes; set gpuDriver of one pool, or none for the GPUs of one of them"
        )
        yield wrong(pool.path("gpuDriver"), owner, reason)
    plugins = [(pool, pool.facts.gpu_device_plugin) for pool in owned]
    for pool, plugin, first, wanted in unlike_the_first(plugins):
        reason = f"must be {wanted}, as pool {first.name} has it: a GPU Operator has one device plugin for all, or none"
        yield wrong(pool.path("gpuDevicePlugin"), plugin, reason)


def _device_plugin(pool: PoolReading) -> Iterator[Mistake]:
    """The node image's device plugin is a service that comes with the node image's driver."""
    path, owner = pool.path("gpuDevicePlugin"), pool.given.said("gpu_device_plugin")
    if not pool.infiniband or owner is None:
        return
    if not _owned(pool):
        yield wrong(path, owner, "says nothing: the program manages no GPUs of NVIDIA of the pool; leave it out")
    elif owner == "image" and pool.facts.gpu_driver != "image":
        reason = f"must be operator with gpuDriver {pool.facts.gpu_driver}: the image's device plugin needs its driver"
        yield wrong(path, owner, reason)


def _gpu_direct(pool: PoolReading) -> Iterator[Mistake]:
    if not pool.infiniband or pool.given.said("gpu_direct") is None:
        return
    path, asked, gpus = pool.path("gpuDirect"), pool.given.said("gpu_direct"), pool.facts.size.accelerator
    if gpus is not None and gpus.vendor == "amd":
        yield wrong(path, asked, "says nothing for AMD's GPUs, whose driver has DMA-BUF; leave it out")
    elif gpus is None or not _owned(pool):
        yield wrong(path, asked, "says nothing: the program manages no GPUs of the pool; leave it out")
    elif asked == "dmabuf" and not gpus.dma_buf:
        reason = f"must be nvidia-peermem for {gpus.model}: DMA-BUF needs open kernel modules, which do not drive it"
        yield wrong(path, asked, reason)
    elif asked == "nvidia-peermem" and pool.facts.nic_driver == "inbox":
        yield wrong(path, asked, "must be dmabuf with the inbox driver: nvidia-peermem is built against OFED")


def _one_module(reading: Reading) -> Iterator[Mistake]:
    """The operator's driver pods wait for an OFED container on every node, or on none (chart value driver.rdma)."""
    pools = [pool for pool, so in known(reading.infiniband_pools, _by_nvidias_operator) if so]
    ways = known(pools, lambda pool: pool.facts.dma_buf)
    for pool, _, first, dma_buf in unlike_the_first(ways):
        reason = (
            f"must be {'dmabuf' if dma_buf else 'nvidia-peermem'}, as for pool {first.name}: the GPU Operator's "
            "drivers wait for an OFED container on all nodes or on none; or give both the same nicDriver"
        )
        yield wrong(pool.path("gpuDirect"), pool.given.said("gpu_direct"), reason)


def _one_system(reading: Reading) -> Iterator[Mistake]:
    """The GPU Operator reads the system of one GPU node, and gives all of them the driver for it (NVIDIA/gpu-operator
    v26.3.3, controllers/state_manager.go).
    """
    if not reading.in_azure:
        return
    version = reading.kubernetes
    sides = known(reading.infiniband_pools, lambda pool: (_by_nvidias_operator(pool), pool.os_sku))
    systems = [(pool, system) for pool, (so, sku) in sides if so for system in systems_of(sku, version)]
    for pool, _, first, _ in unlike_the_first(systems):
        reason = (
            f"must be the same system as that of pool {first.name} ({first.os_sku}), because the GPU Operator installs "
            "the driver for one system on all GPU nodes"
        )
        yield wrong(pool.path("osSku"), pool.os_sku, reason)


def _gpu_driver_version(reading: Reading) -> Iterator[Mistake]:
    path, version = ("gpuOperator", "driverVersion"), reading.settings.gpu_operator.driver_version
    asked = known(reading.infiniband_pools, _by_nvidias_operator)
    yield from architecture(path, version, [pool for pool, so in asked if so])
    if version and not any(pool.infiniband and _by_nvidias_operator(pool) for pool in reading.pools):
        yield wrong(path, version, "says nothing: no pool has gpuDriver operator for GPUs of NVIDIA; leave it out")


def _without_effect(reading: Reading) -> Iterator[Mistake]:
    """Settings for GPUs that no pool has. A chart may be named for all stacks alike."""
    gpus = known(reading.infiniband_pools, lambda pool: pool.facts.size.accelerator)
    owned = known(reading.infiniband_pools, _owned)
    domains = known(reading.infiniband_pools, lambda pool: pool.facts.has_compute_domain)
    if len(owned) < len(reading.infiniband_pools) or not reading.infiniband_pools:
        return
    if not any(has for _, has in domains):
        for key, value in reading.settings.dra_driver.given("values"):
            reason = "says nothing: no pool has GPUs that share an NVLink domain (GB200, GB300); leave it out"
            yield wrong(("draDriver", key), value or None, reason)
    burn_in, envvar = reading.settings.validation.burn_in, reading.settings.gpu_operator.accept_visible_devices_envvar
    if burn_in is not None and not any(accelerator for _, accelerator in gpus):
        yield wrong(("validation", "burnIn"), burn_in, "says nothing: no pool has GPUs; leave it out")
    if envvar and not any(so for _, so in owned):
        reason = "does nothing: no pool has GPUs of NVIDIA with a driver; leave it out"
        yield wrong(("gpuOperator", "acceptVisibleDevicesEnvvar"), True, reason)


STACK = (_one_owner, _one_module, _one_system, _gpu_driver_version, _without_effect)
POOL = (_owner, _device_plugin, _gpu_direct)
